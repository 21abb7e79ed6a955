"""One store: a machine, and on it the raftstore and the storage layer of a TiKV process.

Nothing is decided here; this is where the stations of a process are connected::

    network ► Scheduler (latches, pool, command) ─┬─ in memory ──────────────► reply
                                                  └─ StorePool (propose) ─┬──► reply "proposed"
                                                     LogEngine (append)   │
                                                     followers, quorum    │
                                                     ApplyPool ► KvEngine ┴──► reply "applied"

Source: tikv/tikv components/server/src/server.rs (TikvServer).
"""

from collections.abc import Mapping
from typing import Final

from sim.distributions import LognormalMean, Sampler
from sim.engine import Cores, LeanEnv, RunQueues, Story
from sim.hardware.disk import Disk
from sim.hardware.network import Link
from sim.pd.tso import TimestampOracle
from sim.raftstore.context import StoreContext
from sim.raftstore.disk_bytes import DiskBytes
from sim.raftstore.peer import Peer
from sim.raftstore.store import Raftstore
from sim.record.recorder import Recorder
from sim.scenario.resolved import Scenario
from sim.storage.block_cache import BlockCache, RowMisses
from sim.storage.deadlock_detector import Detector
from sim.storage.lock_manager import LockManager
from sim.storage.probe import Probe
from sim.storage.request_pools import RequestPools
from sim.storage.scheduler import Scheduler
from sim.streams import Stream, Streams
from sim.transport.grpc import GrpcThreads
from sim.units import NS_PER_MS

_SETTLE_NS: Final = 10 * NS_PER_MS
"""How long background work is averaged. ASSUMED: many requests, and far shorter than a load
change."""


class Machine:
    """The cores, disks and thread pools of one store."""

    def __init__(self, env: LeanEnv, scenario: Scenario, streams: Streams, name: str) -> None:
        hardware = scenario.hardware
        self.cores = Cores(
            hardware.store_cores,
            hardware.threads_per_core,
            hardware.cpu.smt_gain,
            hardware.cpu.thread_hop_ns,
            RunQueues(
                hardware.store_cores,
                hardware.store_cpu.thread_run_ns,
                streams.stream(f"{name}/run-queues"),
            ),
        )
        self._block_bytes = hardware.stored_bytes(scenario.tikv.block_bytes)
        self._block_ns = hardware.unpacking_ns(scenario.tikv.block_bytes)
        fetches = streams.stream(f"{name}/fetches")
        self.raft_disk = Disk(hardware.raft_disk, streams.stream(f"{name}/raft-disk"), fetches)
        self.kv_disk = self.raft_disk
        if hardware.kv_disk is not None:
            self.kv_disk = Disk(hardware.kv_disk, streams.stream(f"{name}/kv-disk"), fetches)
        self.pools = RequestPools(env, self.cores, scenario.tikv)
        env.process(self._background_work(env))

    def block_cache(self, stream: Stream, misses: RowMisses) -> BlockCache:
        """Returns the caches over the KV disk."""
        return BlockCache(
            self.kv_disk,
            stream,
            misses,
            self.cores,
            block_bytes=self._block_bytes,
            block_ns=self._block_ns,
        )

    def _background_work(self, env: LeanEnv) -> Story:
        """Charges the cores, for ever, with the CPU work that no pool runs."""
        while True:
            yield _SETTLE_NS
            self.cores.settle(env.now_ns, _SETTLE_NS)


class Store:
    """One TiKV process on its own machine."""

    def __init__(  # noqa: PLR0913 - what a process is made of, named
        self,
        ctx: StoreContext,
        scenario: Scenario,
        streams: Streams,
        recorder: Recorder,
        probe: Probe,
        *,
        ledger: DiskBytes,
        tso: TimestampOracle,
        detector: Detector,
        replies: list[Link],
        misses: RowMisses,
    ) -> None:
        """Args: ``misses`` says how likely a row is not in the caches."""
        self.ctx = ctx
        self.machine = machine = Machine(ctx.env, scenario, streams, self._name)
        apply_draw, poller_draw, request_draw = self._cpu_draws(scenario, streams)
        self.raftstore = Raftstore(
            ctx,
            scenario,
            cores=machine.cores,
            raft_disk=machine.raft_disk,
            kv_disk=machine.kv_disk,
            ledger=ledger,
            recorder=recorder,
            poller_draw=poller_draw,
            apply_draw=apply_draw,
            safe_ts=tso.safe_ts,
            slice_phase=streams.stream(f"{self._name}/slice-phase").random(),
        )
        self.grpc = GrpcThreads(machine.cores, scenario.tikv.grpc_concurrency)
        self._detector, self._tikv = detector, scenario.tikv
        self.scheduler = ctx.callbacks = Scheduler(
            ctx.env,
            ctx,
            scenario,
            recorder,
            probe,
            raftstore=self.raftstore,
            pools=machine.pools,
            grpc=self.grpc,
            cores=machine.cores,
            cache=machine.block_cache(streams.stream(f"{self._name}/block-cache"), misses),
            draw=request_draw,
            replies=replies,
            make_lock_manager=self._make_lock_manager,
            on_role_or_region_changed=detector.role_or_region_changed,
        )

    @property
    def _name(self) -> str:
        return f"store-{self.ctx.store_id}"

    def _cpu_draws(self, scenario: Scenario, streams: Streams) -> list[Sampler]:
        """Returns what varies the CPU of applying, of raft messages and of requests."""
        unit = LognormalMean(1_000_000, scenario.hardware.cpu.cv)
        return [Sampler(unit, streams.stream(f"{self._name}/cpu-{pool}")) for pool in range(3)]

    def _make_lock_manager(self, scheduler: Scheduler) -> LockManager:
        """Returns the waiters of a process that has just begun: none."""
        return LockManager(
            self.ctx.env,
            self.ctx.store_id,
            self._detector,
            timeout_ns=self._tikv.wait_for_lock_timeout_ns,
            wake_up_delay_ns=self._tikv.wake_up_delay_ns,
            answer=scheduler.answer,
            run_again=scheduler.acquire_latches,
        )

    @property
    def store_id(self) -> int:
        """The store's number, from 1."""
        return self.ctx.store_id

    @property
    def peers(self) -> Mapping[int, Peer]:
        """The replicas here, by region; none while the process does not run."""
        return self.ctx.peers

    @property
    def up(self) -> bool:
        """Whether the process runs."""
        return self.ctx.up

    def crash(self) -> None:
        """Kills the process."""
        self.raftstore.crash()
        self.scheduler.crash()
        self._detector.store_crashed(self.store_id)

    def restart(self) -> None:
        """Starts the process again, with what was on its disks."""
        self.raftstore.restart()
