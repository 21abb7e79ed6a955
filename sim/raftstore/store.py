"""The raftstore of one store: its parts, connected.

Nothing is decided here. Source: tikv/tikv components/raftstore/src/store/fsm/store.rs
(RaftBatchSystem, RaftStoreRouter).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from sim.distributions import Sampler
from sim.engine import Cores
from sim.hardware.disk import Disk
from sim.protocol.raft import RequestVote
from sim.protocol.write_batch import CAUSE_NAMES
from sim.raftstore.apply import ApplyPool
from sim.raftstore.context import StoreContext
from sim.raftstore.disk_bytes import DiskBytes
from sim.raftstore.disk_full import report_received
from sim.raftstore.kv_engine import Amplification, KvEngine
from sim.raftstore.log_engine import LogEngine, LogFormat
from sim.raftstore.msg import Campaign
from sim.raftstore.peer import Peer
from sim.raftstore.peer_fsm import PeerFsm
from sim.raftstore.poller import StorePool
from sim.raftstore.propose import Proposals
from sim.raftstore.read import LocalReader
from sim.raftstore.restart import crash
from sim.record.recorder import Recorder
from sim.scenario.resolved import Scenario
from sim.transport.messages import DiskUsageReport, RaftMessage

_MAX_PENDING_MESSAGES: Final = 16
"""Messages kept for a region that a split is about to bring here (TiKV: pending votes)."""


class Raftstore:
    """Raft, its log and the applied records on one store."""

    def __init__(  # noqa: PLR0913 - a station's parts, named
        self,
        ctx: StoreContext,
        scenario: Scenario,
        *,
        cores: Cores,
        raft_disk: Disk,
        kv_disk: Disk,
        ledger: DiskBytes,
        recorder: Recorder,
        poller_draw: Sampler,
        apply_draw: Sampler,
        safe_ts: Callable[[], int],
        slice_phase: float,
    ) -> None:
        cpu = scenario.hardware.store_cpu
        self._ctx = ctx
        self._cores = cores
        self._set_ns = 2 * cpu.grpc_message_ns
        """CPU of carrying what a store has sent at once, at both ends."""
        self._carry_ns = cpu.grpc_request_ns >> 1
        """CPU of each message in it, at both ends: it has no answer."""
        self.at_rest: list[Peer] = []
        """Replicas on the disk of a process that does not run."""
        entry_bytes = [recorder.counter("raft_entry_bytes", cause) for cause in CAUSE_NAMES]
        self.log = LogEngine(
            ctx.env,
            raft_disk,
            LogFormat.of(scenario),
            ledger,
            entry_bytes,
            cores=cores,
            flushed_byte_ns=cpu.compaction_byte_ns,
            slice_phase=slice_phase,
        )
        self.kv = _kv_engine(ctx, scenario, kv_disk, cores, ledger, slice_phase)
        self.apply = ApplyPool(ctx, cores, self.kv, cpu=cpu, draw=apply_draw, safe_ts=safe_ts)
        self.proposals = Proposals(ctx)
        self.reader = LocalReader(ctx)
        self._fsm = PeerFsm(ctx, self.proposals, self.reader)
        self.pool = StorePool(
            ctx,
            cores,
            costs=cpu,
            draw=poller_draw,
            log=self.log,
            apply=self.apply,
            proposals=self.proposals,
            fsm=self._fsm,
        )

    def receive(self, messages: Sequence[RaftMessage]) -> None:
        """Takes what another store has sent: each message into its peer's mailbox."""
        if self._ctx.up:
            self._cores.background_ns += self._set_ns + self._carry_ns * len(messages)
            self._ctx.router.deliver_all(self._ctx.peers, messages, self._receive_without_peer)

    def crash(self) -> None:
        """Kills the process; its replicas wait on disk for ``restart``."""
        self.at_rest = crash(self._ctx, self._fsm.split)
        self.apply.clear()
        self._ctx.router.clear()

    def restart(self) -> None:
        """Starts the process again; its replicas follow a leader, or stand for election.

        The only replica of a region does so at once (peer.rs, ``Peer::new``).
        """
        ctx = self._ctx
        ctx.up = True
        ctx.transport.mute = False
        at_rest, self.at_rest = self.at_rest, []
        for peer in at_rest:
            ctx.add(peer)
            ctx.ticks.wake_up(peer)
            log = peer.raft.log
            if log.committed > log.applying:
                self.pool.commit(peer, peer.raft.take_committed())
            self.proposals.refresh(peer)
            if peer.state.merging:
                self._fsm.merge.resume(peer)
            if peer.raft.voters == (ctx.store_id,):
                ctx.router.deliver(peer, Campaign())

    def _receive_without_peer(self, message: RaftMessage) -> None:
        """Takes a message for a replica that is not here, or not yet."""
        if isinstance(message, DiskUsageReport):
            report_received(self._ctx, message)
            return
        if isinstance(message, RequestVote):
            self._fsm.membership.answer_for_merged(message)
        peer = self._fsm.membership.first_contact(message)
        if peer is not None:
            self._ctx.router.deliver(peer, message)
        else:
            pending = self._ctx.pending_messages.setdefault(message.region_id, [])
            pending.append(message)
            del pending[:-_MAX_PENDING_MESSAGES]


def _kv_engine(
    ctx: StoreContext,
    scenario: Scenario,
    disk: Disk,
    cores: Cores,
    ledger: DiskBytes,
    slice_phase: float,
) -> KvEngine:
    hardware = scenario.hardware
    return KvEngine(
        ctx.env,
        disk,
        cores,
        Amplification(
            data=hardware.lsm.write_amplification, lock=hardware.lsm.lock_write_amplification
        ),
        ledger,
        byte_ns=hardware.store_cpu.compaction_byte_ns,
        slice_phase=slice_phase,
    )
