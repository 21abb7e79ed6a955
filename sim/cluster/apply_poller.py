"""The apply pool: loops that make committed entries visible.

Law: one round takes the peers that have something to apply, pays CPU for every command and key,
writes them to RocksDB together, and only then calls back whoever waits. Entries of one peer are
applied in log order: a peer is owned by one poller at a time.

Source: tikv/tikv components/raftstore/src/store/fsm/apply.rs.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from sim.cluster.peer import IDLE, OWNED, QUEUED
from sim.protocol.raft import LEADER

if TYPE_CHECKING:
    from collections.abc import Callable

    from sim.cluster.kv_engine import KvEngine
    from sim.cluster.peer import Peer
    from sim.cluster.request import KvRequest
    from sim.distributions import Sampler
    from sim.engine import Cores, LeanEnv
    from sim.protocol.raft_log import Entry


class ApplyCosts:
    """CPU of applying, in ns, before the draw that varies it."""

    __slots__ = ("command_ns", "key_ns")

    def __init__(self, *, command_ns: int, key_ns: int) -> None:
        self.command_ns = command_ns
        self.key_ns = key_ns


class ApplyPool:
    """The peers that wait for an apply poller, and the pollers that wait for peers."""

    __slots__ = (
        "_batch",
        "_cores",
        "_costs",
        "_draw",
        "_env",
        "_idle",
        "_kv",
        "_on_applied",
        "_queue",
        "_safe_ts",
        "_units",
        "busy_ns",
        "rounds",
        "threads",
    )

    def __init__(  # noqa: PLR0913 - a station's parts, named
        self,
        env: LeanEnv,
        cores: Cores,
        kv: KvEngine,
        *,
        threads: int,
        max_batch: int,
        costs: ApplyCosts,
        draw: Sampler,
        on_applied: Callable[[KvRequest], None],
        safe_ts: Callable[[], int],
    ) -> None:
        self._env = env
        self._cores = cores
        self._kv = kv
        self._batch = max_batch
        self._costs = costs
        self._draw = draw
        self._units: list[float] = []
        self._on_applied = on_applied
        self._safe_ts = safe_ts
        self._queue: deque[Peer] = deque()
        self._idle = threads
        self.threads = threads
        self.busy_ns = 0
        self.rounds = 0

    def schedule(self, peer: Peer, entries: list[Entry]) -> None:
        """Queues committed entries of a peer."""
        peer.apply_queue.extend(entries)
        if peer.apply_turn is IDLE:
            peer.apply_turn = QUEUED
            self._queue.append(peer)
            if self._idle:
                self._idle -= 1
                self._begin()

    def _begin(self) -> None:
        queue = self._queue
        batch: list[tuple[Peer, list[Entry]]] = []
        commands = keys = 0
        while queue and len(batch) < self._batch:
            peer = queue.popleft()
            peer.apply_turn = OWNED
            entries = peer.apply_queue
            peer.apply_queue = []
            for entry in entries:
                payload: list[KvRequest] = entry.payload  # type: ignore[assignment]
                commands += len(payload)
                for command in payload:
                    keys += command.batch.keys  # type: ignore[union-attr]
            batch.append((peer, entries))
        cores = self._cores
        mean = commands * self._costs.command_ns + keys * self._costs.key_ns
        units = self._units
        if not units:
            units.extend(self._draw.unit_block())
        held = int(int(mean * units.pop()) * cores.slowness())
        cores.running += 1
        cores.busy_ns += held
        self.busy_ns += held
        self.rounds += 1
        self._env.at(self._env.now_ns + held, self._end, batch)

    def _end(self, batch: list[tuple[Peer, list[Entry]]]) -> None:
        self._cores.running -= 1
        kv = self._kv
        safe_ts = self._safe_ts()
        cause = 0
        finished: list[KvRequest] = []
        for peer, entries in batch:
            state = peer.state
            leads = peer.raft.role is LEADER
            for entry in entries:
                fresh = entry.index > state.applied
                payload: list[KvRequest] = entry.payload  # type: ignore[assignment]
                for command in payload:
                    written = command.batch
                    assert written is not None, "only written commands are proposed"
                    cause = written.cause
                    kv.apply(written)
                    if fresh:
                        state.mvcc.apply(written)
                    if leads:
                        command.committed_ns = entry.committed_ns
                        finished.append(command)
                if fresh:
                    state.applied = entry.index
            state.mvcc.collect_garbage(safe_ts)
        kv.end_of_round(cause)
        if finished:
            self._finish(finished)
        self._release(batch)

    def _finish(self, commands: list[KvRequest]) -> None:
        """Calls back those who wait for their commands' being applied here."""
        now = self._env.now_ns
        for command in commands:
            command.applied_ns = now
            peer = command.peer
            if command.marked and peer is not None:
                peer.locks.remove(command.marked)
            self._on_applied(command)

    def _release(self, batch: list[tuple[Peer, list[Entry]]]) -> None:
        queue = self._queue
        for peer, _ in batch:
            if peer.apply_queue:
                peer.apply_turn = QUEUED
                queue.append(peer)
            else:
                peer.apply_turn = IDLE
        if queue:
            self._begin()
        else:
            self._idle += 1
