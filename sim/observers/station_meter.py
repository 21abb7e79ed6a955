"""Copies what the stations have counted into the facts, once a window.

Stations keep their own totals from time 0; the meter turns them into counters. ``busy_ns`` over
``capacity_ns`` of a class is the utilisation of that kind of station, over all nodes that have one.
"""

from collections.abc import Callable, Sequence

from sim.client.tidb import TidbNode
from sim.hardware.disk import Disk
from sim.record.recorder import Counter, Recorder
from sim.scenario.resolved import Scenario
from sim.server.cluster import Cluster
from sim.server.store import Store


class StationMeter:
    """Every total that some station keeps, with the counter it goes to."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._readings: list[tuple[Counter, Callable[[], int]]] = []
        self._capacity: list[tuple[Counter, int]] = []

    def add_station(self, name: str, servers: int, busy_ns: Callable[[], int]) -> None:
        """Adds a kind of station: so many servers on all nodes together, and how busy they were."""
        self.add_total("busy_ns", name, busy_ns)
        self._capacity.append((self._recorder.counter("capacity_ns", name), servers))

    def add_disks(self, name: str, disks: Sequence[Disk]) -> None:
        """Adds disks, some of which may be the same."""
        different = list({id(disk): disk for disk in disks}.values())
        self.add_station(name, len(different), lambda: sum(disk.busy_ns for disk in different))

    def add_total(self, metric: str, class_: str, read: Callable[[], int]) -> None:
        """Adds a total that is copied as it is."""
        self._readings.append((self._recorder.counter(metric, class_), read))

    def read(self, now_ns: int) -> None:
        """Brings every counter up to date at ``now_ns``."""
        for counter, total in self._readings:
            counter.value = total()
        for counter, servers in self._capacity:
            counter.value = servers * now_ns


def meter_of(
    recorder: Recorder, scenario: Scenario, cluster: Cluster, nodes: Sequence[TidbNode]
) -> StationMeter:
    """Returns the meter of a cluster of TiKV and its TiDB nodes."""
    meter, stores = StationMeter(recorder), list(cluster.stores.values())
    first = stores[0]

    def over(read: Callable[[Store], int]) -> Callable[[], int]:
        return lambda: sum(read(store) for store in stores)

    def pool(name: str, threads: int, busy_ns: Callable[[Store], int]) -> None:
        meter.add_station(name, threads * len(stores), over(busy_ns))

    pool("store_cpu", scenario.hardware.store_cores, lambda s: s.machine.cores.busy_ns)
    pool("store_poller", first.raftstore.pool.threads, lambda s: s.raftstore.pool.busy_ns)
    pool("apply", first.raftstore.apply.threads, lambda s: s.raftstore.apply.busy_ns)
    pool("scheduler", first.machine.pool.threads, lambda s: s.machine.pool.busy_ns)
    pool("read_pool", first.machine.read_pool.threads, lambda s: s.machine.read_pool.busy_ns)
    pool("raft_log", 1, lambda s: s.raftstore.log.writing_ns)
    meter.add_disks("raft_disk", [store.machine.raft_disk for store in stores])
    if first.machine.kv_disk is not first.machine.raft_disk:
        pool("kv_disk", 1, lambda s: s.machine.kv_disk.busy_ns)
    pool("grpc", first.grpc.threads, lambda s: s.grpc.busy_ns)
    client = cluster.client_machine
    meter.add_station("client_cpu", scenario.hardware.client_cores, lambda: client.busy_ns)
    tidb_cores = scenario.hardware.tidb_cores * len(nodes)
    meter.add_station("tidb_cpu", tidb_cores, lambda: sum(node.busy_ns for node in nodes))
    meter.add_total("fsyncs", "raft", over(lambda s: s.raftstore.log.fsyncs))
    meter.add_total("raft_entries", "all", over(lambda s: s.raftstore.log.entries))
    meter.add_total("store_messages", "all", over(lambda s: s.raftstore.pool.messages))
    meter.add_total("network_bytes", "raft", lambda: _sent(cluster, raft=True))
    meter.add_total("network_bytes", "kv", lambda: _sent(cluster, raft=False))
    meter.add_total("engine_events", "all", lambda: cluster.env.events)
    return meter


def _sent(cluster: Cluster, *, raft: bool) -> int:
    """Returns the bytes sent between stores, or on all other links."""
    return sum(
        link.bytes
        for (src, dst), link in cluster.network.links().items()
        if (src.startswith("store-") and dst.startswith("store-")) is raft
    )
