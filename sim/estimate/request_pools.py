"""What serves a store's requests: gRPC threads, the scheduler's pool, and those of reads."""

from collections import Counter

from sim.estimate.footprint import Footprint, Requests
from sim.estimate.planned_request import READS, RequestKind
from sim.estimate.station_load import MOST_USED, StationLoad
from sim.estimate.store_load import StoreLoad
from sim.estimate.store_shares import StoreShare
from sim.queueing.formulas import in_queue
from sim.scenario.resolved import Scenario
from sim.transport.grpc import connections_of
from sim.units import NS_PER_S


class RequestDemand:
    """What the pools of one store are asked for per transaction."""

    def __init__(
        self,
        scenario: Scenario,
        footprint: Footprint,
        lock_share: float,
        share: StoreShare,
        *,
        ended: float,
        fetch_ns: float,
    ) -> None:
        """Takes what a store model knows.

        Args:
            scenario: one variant at one point.
            footprint: what a transaction asks for.
            lock_share: part of the lock requests that are proposed.
            share: what this store has of it.
            ended: commands applied that this store leads, for each transaction of the mean store.
            fetch_ns: of a read from the disk.
        """
        self._tikv = scenario.tikv
        self._cpu = scenario.hardware.store_cpu
        self._replicas = scenario.cluster.replicas
        self._stores = scenario.cluster.stores
        self._footprint = footprint
        self._lock_share = lock_share
        self._share = share
        self._ended = ended
        self._fetch_ns = fetch_ns
        self._unpack_ns = scenario.hardware.unpacking_ns(scenario.tikv.block_bytes)
        self._grpc_shares = _grpc_shares(scenario)

    def stations(
        self, load: StoreLoad, retries: float
    ) -> tuple[StationLoad, dict[str, StationLoad]]:
        """Returns the gRPC threads, and the pools by name, whose threads are not woken yet.

        Args: as of ``StoreModel.at``.
        """
        pools = self._pools()
        of_mean_store = load.txn_per_s / self._stores
        for kind, each in self._footprint.requests.items():
            per_store = of_mean_store * self._share.led.get(kind, 1.0)
            pool = pools[self.pool_of(kind)]
            count = each.count + (retries if kind == "lock" else 0.0)
            pool.jobs += per_store * count
            work_ns = self.request_ns(kind) * load.slowness
            pool.busy += per_store * count * work_ns / NS_PER_S
            pool.busy += per_store * self.rows_ns(each, load) / NS_PER_S
        grpc = self._grpc(load, sum(pool.jobs for pool in pools.values()))
        ended = of_mean_store * self._ended
        finished = ended + of_mean_store * self._answered_early()
        scheduler = pools["scheduler"]
        scheduler.jobs += finished
        scheduler.busy += finished * self._cpu.tikv_finish_ns * load.slowness / NS_PER_S
        scheduler.in_groups = ended  # What a store leads of that which is applied together.
        scheduler.together = 1 + (load.applied_together - 1) / self._replicas
        return grpc, pools

    def fetches_per_s(self, txn_per_s: float) -> float:
        """Returns how many blocks are read from the disk."""
        of_kinds = self._footprint.requests.items()
        fetches = sum(self._share.led.get(kind, 1.0) * each.fetches for kind, each in of_kinds)
        return txn_per_s / self._stores * fetches

    def _pools(self) -> dict[str, StationLoad]:
        """Returns the pools that serve requests, without work."""
        tikv = self._tikv
        servers = {
            "scheduler": tikv.scheduler_worker_pool_size,
            "read_pool": tikv.readpool_unified_max_thread_count,
        }
        if tikv.readpool_storage_normal_concurrency is not None:
            servers["storage_read_pool"] = tikv.readpool_storage_normal_concurrency
        return {name: StationLoad(threads) for name, threads in servers.items()}

    def pool_of(self, kind: RequestKind) -> str:
        """Returns the name of the pool that serves a kind of request."""
        if kind not in READS.values():
            return "scheduler"
        own = self._tikv.readpool_storage_normal_concurrency is not None
        return "storage_read_pool" if own and kind != "cop" else "read_pool"

    def _answered_early(self) -> float:
        """Returns how many commands of a transaction the scheduler's pool answers when proposed."""
        tikv = self._tikv
        early = tikv.lock_mode == "pipelined" or tikv.in_memory_fallback == "pipelined"
        if not tikv.pipelined or not early or not tikv.pool_answers_proposed:
            return 0.0
        locks = self._footprint.requests.get("lock", Requests()).count
        return self._lock_share * self._share.led.get("lock", 1.0) * locks

    def request_ns(self, kind: RequestKind) -> float:
        """Returns the CPU of a request in the read pool or the scheduler, on idle cores."""
        cpu, each = self._cpu, self._footprint.requests[kind]
        finding_ns = cpu.tikv_key_ns * each.sought
        finding_ns += cpu.tikv_load_lock_ns * (each.keys - each.sought)
        if kind in READS.values():
            return cpu.tikv_read_ns + (finding_ns + cpu.tikv_row_ns * each.rows) / each.count
        records = each.records * (self._lock_share if kind == "lock" else 1.0)
        return cpu.tikv_command_ns + (finding_ns + cpu.tikv_record_ns * records) / each.count

    def rows_ns(self, requests: Requests, load: StoreLoad) -> float:
        """Returns the time of a transaction's blocks: fetching and unpacking them."""
        unpack_ns = self._unpack_ns * load.slowness
        return requests.fetches * self._fetch_ns + requests.blocks * unpack_ns

    def _grpc(self, load: StoreLoad, requests_per_s: float) -> StationLoad:
        """Returns the gRPC threads: each a server of its own for some of the connections."""
        cpu, grpc = self._cpu, StationLoad(len(self._grpc_shares), 2 * requests_per_s)
        service_ns = (cpu.grpc_request_ns >> 1) + load.opening * cpu.grpc_message_ns
        service_ns *= load.slowness
        grpc.busy = grpc.jobs * service_ns / NS_PER_S
        load.grpc_used = max(self._grpc_shares) * grpc.busy
        crowding_ns = load.hop_ns - cpu.thread_hop_ns
        load.grpc_ns, grpc.queue = service_ns + crowding_ns, 0.0
        for share in self._grpc_shares:
            waiting = in_queue(1, min(share * grpc.busy, MOST_USED), cv=0.0)
            grpc.queue += waiting
            load.grpc_ns += waiting * NS_PER_S / grpc.jobs if grpc.jobs else 0.0
        return grpc


def _grpc_shares(scenario: Scenario) -> list[float]:
    """Returns the part of a store's requests that each gRPC thread serves."""
    threads, nodes = scenario.tikv.grpc_concurrency, scenario.cluster.tidb_nodes
    connections = Counter(
        connection % threads for tidb in range(nodes) for connection in connections_of(tidb)
    )
    return [connections[thread] / connections.total() for thread in range(threads)]
