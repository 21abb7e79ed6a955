"""Copies what the stations have counted into the facts, once a window.

Stations keep their own totals from time 0; the meter turns them into counters. ``busy_ns`` over
``capacity_ns`` of a class is the utilisation of that kind of station, over all nodes that have one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sim.client.tidb import TidbNode
from sim.record.recorder import Counter, Recorder
from sim.scenario.resolved import Scenario
from sim.server.cluster import Cluster
from sim.server.store import Store


class StationMeter:
    """Every total that some station keeps, with the counter it goes to."""

    def __init__(
        self,
        recorder: Recorder,
        scenario: Scenario,
        cluster: Cluster,
        nodes: Sequence[TidbNode],
    ) -> None:
        stores = list(cluster.stores.values())
        self._readings: list[tuple[Counter, Callable[[], int]]] = []
        self._capacity: list[tuple[Counter, int]] = []

        def station(name: str, servers: int, busy_ns: Callable[[], int]) -> None:
            self._readings.append((recorder.counter("busy_ns", name), busy_ns))
            self._capacity.append((recorder.counter("capacity_ns", name), servers))

        def over(read: Callable[[Store], int]) -> Callable[[], int]:
            return lambda: sum(read(store) for store in stores)

        def pool(name: str, threads: int, busy_ns: Callable[[Store], int]) -> None:
            station(name, threads * len(stores), over(busy_ns))

        first = stores[0]
        pool("store_cpu", scenario.hardware.store_cores, lambda s: s.machine.cores.busy_ns)
        pool("store_poller", first.raftstore.pool.threads, lambda s: s.raftstore.pool.busy_ns)
        pool("apply", first.raftstore.apply.threads, lambda s: s.raftstore.apply.busy_ns)
        pool("scheduler", first.machine.pool.threads, lambda s: s.machine.pool.busy_ns)
        pool("read_pool", first.machine.read_pool.threads, lambda s: s.machine.read_pool.busy_ns)
        pool("raft_log", 1, lambda s: s.raftstore.log.writing_ns)
        disks = list(
            {id(store.machine.raft_disk): store.machine.raft_disk for store in stores}.values()
        )
        station("raft_disk", len(disks), lambda: sum(disk.busy_ns for disk in disks))
        if first.machine.kv_disk is not first.machine.raft_disk:
            pool("kv_disk", 1, lambda s: s.machine.kv_disk.busy_ns)
        tidb_cores = scenario.hardware.tidb_cores * len(nodes)
        station("tidb_cpu", tidb_cores, lambda: sum(node.busy_ns for node in nodes))
        totals: dict[tuple[str, str], Callable[[], int]] = {
            ("fsyncs", "raft"): over(lambda s: s.raftstore.log.fsyncs),
            ("raft_entries", "all"): over(lambda s: s.raftstore.log.entries),
            ("store_messages", "all"): over(lambda s: s.raftstore.pool.messages),
            ("network_bytes", "raft"): lambda: _sent(cluster, raft=True),
            ("network_bytes", "kv"): lambda: _sent(cluster, raft=False),
            ("engine_events", "all"): lambda: cluster.env.events,
        }
        for (metric, class_), read in totals.items():
            self._readings.append((recorder.counter(metric, class_), read))

    def read(self, now_ns: int) -> None:
        """Brings every counter up to date at ``now_ns``."""
        for counter, total in self._readings:
            counter.value = total()
        for counter, servers in self._capacity:
            counter.value = servers * now_ns


def _sent(cluster: Cluster, *, raft: bool) -> int:
    """Returns the bytes sent between stores, or on all other links."""
    return sum(
        link.bytes
        for (src, dst), link in cluster.network.links().items()
        if (src.startswith("store-") and dst.startswith("store-")) is raft
    )
