"""Reads what the stations have counted, once a window, into the facts.

Stations count for themselves, from the beginning; the meter is what turns their totals into
counters. ``busy_ns`` over ``capacity_ns`` of a class is the utilisation of that kind of station,
over all nodes that have one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sim.client.tidb import TidbNode
    from sim.record.recorder import Counter, Recorder
    from sim.scenario.resolved import Scenario
    from sim.server.cluster import Cluster
    from sim.server.store import Store


class StationMeter:
    """Every total that some station keeps, with the counter it goes to."""

    __slots__ = ("_capacity", "_readings")

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

        first = stores[0]
        count = len(stores)
        cores = scenario.hardware.store_cores * count
        cores_busy_ns = over(lambda s: s.cores.busy_ns)
        station("store_cpu", cores, cores_busy_ns)
        station("store_poller", first.raft_pool.threads * count, over(_raft_pool_busy))
        station("apply", first.apply.threads * count, over(lambda s: s.apply.busy_ns))
        station("scheduler", first.pool.threads * count, over(lambda s: s.pool.busy_ns))
        station("read_pool", first.read_pool.threads * count, over(lambda s: s.read_pool.busy_ns))
        station("raft_log", count, over(lambda s: s.log.writing_ns))
        disks = list({id(store.raft_disk): store.raft_disk for store in stores}.values())
        station("raft_disk", len(disks), lambda: sum(disk.busy_ns for disk in disks))
        if first.kv_disk is not first.raft_disk:
            station("kv_disk", count, over(lambda s: s.kv_disk.busy_ns))
        cores = scenario.hardware.tidb_cores * len(nodes)
        station("tidb_cpu", cores, lambda: sum(node.busy_ns for node in nodes))
        totals: dict[tuple[str, str], Callable[[], int]] = {
            ("fsyncs", "raft"): over(lambda s: s.log.fsyncs),
            ("raft_entries", "all"): over(lambda s: s.log.entries),
            ("store_messages", "all"): over(lambda s: s.raft_pool.messages),
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


def _raft_pool_busy(store: Store) -> int:
    return store.raft_pool.busy_ns


def _sent(cluster: Cluster, *, raft: bool) -> int:
    """Returns the bytes sent between stores, or on all other links."""
    return sum(
        link.bytes
        for (src, dst), link in cluster.network.links().items()
        if (src.startswith("store-") and dst.startswith("store-")) is raft
    )
