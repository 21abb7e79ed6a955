"""One etcd member: a store whose stations run in one Go process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sim.distributions import LognormalMean, Sampler
from sim.engine import Cores, ThreadPool
from sim.etcd.allocations import MEMBER_LIVE_BYTES
from sim.etcd.applying import MemberApply
from sim.etcd.backend import Backend
from sim.etcd.costs import Priced
from sim.etcd.go_heap import Heap
from sim.etcd.puts import PutService
from sim.etcd.raft_loop import MemberPool
from sim.etcd.streams import ForwardedPut, MemberTransport, Readers
from sim.server.store import Store
from sim.transport.nodes import store_name, zones_of

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from simpy import Event

    from sim.etcd.go_process import GoProcess
    from sim.scenario.resolved import Scenario
    from sim.server.store import StoreLinks
    from sim.storage.store_stats import StoreStats
    from sim.streams import Streams

_UNIT: Final = 1_000_000


class Member(Store):
    """One member."""

    __slots__ = ("process", "readers")

    scheduler_class = PutService
    raft_pool_class = MemberPool
    apply_class = MemberApply
    engine_class = Backend
    transport_class = MemberTransport

    process: GoProcess

    def _make_machine(self, scenario: Scenario, _: Streams, name: str, /) -> None:
        machine = self._cluster.machines.of_store(name)
        self.process = machine.process(Heap(MEMBER_LIVE_BYTES))
        self.raft_disk = self.kv_disk = machine.disk
        # Those who have no work here: the scheduler's and the read pool's threads.
        self.cores = Cores(scenario.hardware.store_cores)
        self.pool = ThreadPool(self._env, self.cores, 1, f"{name}/scheduler")
        self.read_pool = ThreadPool(self._env, self.cores, 1, f"{name}/read-pool")

    def _make_parts(
        self, scenario: Scenario, streams: Streams, stats: StoreStats, links: StoreLinks
    ) -> None:
        super()._make_parts(scenario, streams, stats, links)
        unit = LognormalMean(_UNIT, scenario.hardware.cpu.cv)
        draw = Sampler(unit, streams.stream(f"store-{self.store_id}/cpu-process"))
        costs = Priced(scenario.hardware.etcd, draw)
        process = self.process
        parts: list[Any] = [self.transport, self.scheduler, self.raft_pool, self.apply]
        for part in parts:
            part.runs_in(process, costs)
        self.readers = Readers(process, costs, self._take)
        self._find_relay(scenario)
        apply: Any = self.apply
        backend: Any = apply.backend
        backend.runs_in(process, costs, apply)
        self._env.process(backend.run())

    def _find_relay(self, scenario: Scenario) -> None:
        relay = self._cluster.machines.relay
        if relay is None:
            return
        zones = zones_of(scenario)
        here = zones[store_name(self.store_id)]
        members = range(1, scenario.cluster.stores + 1)
        elsewhere = [other for other in members if zones[store_name(other)] != here]
        transport: Any = self.transport
        transport.goes_through(relay, elsewhere)

    def background_work(self) -> Generator[Event, None, None]:
        """Has none: all of a member's work goes through its process."""
        yield from ()

    def take_raft_messages(self, messages: Sequence[Any]) -> None:
        """Takes what another member has sent, to be read by the reader of its connection."""
        if self.up:
            self.readers.take(messages)

    def _take(self, messages: list[Any]) -> None:
        if not self.up:
            return
        plain = []
        for message in messages:
            if message.__class__ is ForwardedPut:
                peer = self.peers.get(message.region_id)
                if peer is not None:
                    self.raft_pool.deliver(peer, message.request)
            else:
                plain.append(message)
        if plain:
            super().take_raft_messages(plain)
