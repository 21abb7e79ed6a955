"""Copies what the stations have counted into the facts, once a window.

Stations keep their own totals from time 0; the meter turns them into counters. ``busy_ns`` over
``capacity_ns`` of a class is the utilisation of that kind of station, over all nodes that have one.
"""

from collections.abc import Callable, Sequence

from sim.client.tidb import TidbNode
from sim.engine import ThreadPool
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
        self._busy: list[tuple[Counter, Callable[[int], int]]] = []
        self._capacity: list[tuple[Counter, int]] = []

    def add_station(self, name: str, servers: int, busy_until: Callable[[int], int]) -> None:
        """Adds a kind of station: so many servers on all nodes together, and how busy they were."""
        self._busy.append((self._recorder.counter("busy_ns", name), busy_until))
        self._capacity.append((self._recorder.counter("capacity_ns", name), servers))

    def add_disks(self, name: str, disks: Sequence[Disk]) -> None:
        """Adds disks, some of which may be the same."""
        different = list({id(disk): disk for disk in disks}.values())
        self.add_station(
            name, len(different), lambda now_ns: sum(disk.busy_until(now_ns) for disk in different)
        )

    def add_total(self, metric: str, class_: str, read: Callable[[], int]) -> None:
        """Adds a total that is copied as it is."""
        self._readings.append((self._recorder.counter(metric, class_), read))

    def read(self, now_ns: int) -> None:
        """Brings every counter up to date at ``now_ns``."""
        for counter, total in self._readings:
            counter.value = total()
        for counter, busy_until in self._busy:  # A thread that is just being woken is not yet busy.
            counter.value = max(counter.value, busy_until(now_ns))
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

    def pool(name: str, threads: int, busy_until: Callable[[Store, int], int]) -> None:
        meter.add_station(
            name,
            threads * len(stores),
            lambda now_ns: sum(busy_until(store, now_ns) for store in stores),
        )

    pool("store_cpu", scenario.hardware.store_cores, lambda s, _: s.machine.cores.busy_ns)
    pool(
        "store_poller",
        first.raftstore.pool.threads,
        lambda s, now: s.raftstore.pool.busy_until(now),
    )
    pool("apply", first.raftstore.apply.threads, lambda s, now: s.raftstore.apply.busy_until(now))
    _add_request_pools(meter, stores)
    pool("raft_log", 1, lambda s, now: s.raftstore.log.writing_until(now))
    meter.add_disks("raft_disk", [store.machine.raft_disk for store in stores])
    if first.machine.kv_disk is not first.machine.raft_disk:
        meter.add_disks("kv_disk", [store.machine.kv_disk for store in stores])
    pool("grpc", first.grpc.threads, lambda s, now: s.grpc.busy_until(now))
    _add_clients(meter, scenario, cluster, nodes)
    _add_ports(meter, cluster, "store")
    _add_ports(meter, cluster, "tidb")
    meter.add_total("fsyncs", "raft", over(lambda s: s.raftstore.log.fsyncs))
    meter.add_total("raft_entries", "all", over(lambda s: s.raftstore.log.entries))
    meter.add_total("store_messages", "all", over(lambda s: s.raftstore.pool.messages))
    meter.add_total("network_bytes", "raft", lambda: _sent(cluster, raft=True))
    meter.add_total("network_bytes", "kv", lambda: _sent(cluster, raft=False))
    meter.add_total("engine_events", "all", lambda: cluster.env.events)
    return meter


def _add_request_pools(meter: StationMeter, stores: Sequence[Store]) -> None:
    """Adds the pools that serve requests; point reads have one of their own, or none."""
    of_stores = [store.machine.pools for store in stores]
    pools = {
        "scheduler": [each.scheduler for each in of_stores],
        "read_pool": [each.reads for each in of_stores],
        "storage_read_pool": [
            each.point_reads for each in of_stores if each.point_reads is not each.reads
        ],
    }
    for name, alike in pools.items():
        if alike:
            meter.add_station(name, sum(pool.threads for pool in alike), _busy_until(alike))


def _busy_until(pools: Sequence[ThreadPool]) -> Callable[[int], int]:
    return lambda now_ns: sum(pool.busy_until(now_ns) for pool in pools)


def _add_clients(
    meter: StationMeter, scenario: Scenario, cluster: Cluster, nodes: Sequence[TidbNode]
) -> None:
    """Adds the cores of the client machine and of all TiDB nodes."""
    client_cores = scenario.hardware.client_cores
    meter.add_station("client_cpu", client_cores, cluster.client_machine.busy_until)
    threads = scenario.hardware.goroutine_threads * len(nodes)
    meter.add_station(
        "tidb_cpu", threads, lambda now_ns: sum(node.busy_until(now_ns) for node in nodes)
    )


def _add_ports(meter: StationMeter, cluster: Cluster, kind: str) -> None:
    """Adds the network ports of all nodes of a kind."""
    network = cluster.network
    nodes = frozenset(node for node in network.nodes() if node.startswith(f"{kind}-"))
    meter.add_station(
        f"{kind}_network", len(nodes), lambda now_ns: network.sending_until(now_ns, nodes)
    )


def _sent(cluster: Cluster, *, raft: bool) -> int:
    """Returns the bytes sent between stores, or on all other links."""
    return sum(
        link.bytes
        for (src, dst), link in cluster.network.links().items()
        if (src.startswith("store-") and dst.startswith("store-")) is raft
    )
