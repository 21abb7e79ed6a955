"""Small clusters with constant costs, on which a test can say to the microsecond what happens.

A request takes 100 us each way on the network and 100 us of CPU; a store poller 10 us a message, an
apply 20 us a command, an append and its fsync 1 ms. With one lock request sent at 0::

    0.1 ms arrives ─ 0.2 executed ─ 0.21 proposed ─ 1.42 a majority has answered ─ 1.45 applied
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from analysis.study.load import load_study
from sim.checks.checkers import Checkers
from sim.checks.conservation import broken_conservation
from sim.client.client_stats import ClientStats
from sim.client.session import Session
from sim.client.tidb import TidbNode
from sim.distributions import Constant
from sim.engine import LeanEnv
from sim.hardware import DiskSpec, NetworkSpec
from sim.observers.lock_fates import LockFates
from sim.protocol.mvcc import PUT
from sim.protocol.percolator import Mutation
from sim.protocol.region import lay_out_regions
from sim.raftstore.peer import Peer
from sim.record.facts import MemorySink
from sim.record.recorder import Recorder
from sim.scenario import Scenario
from sim.server.cluster import Cluster
from sim.storage.request import Kind, KvRequest
from sim.streams import Streams
from sim.units import GIB, NS_PER_MS, NS_PER_S, NS_PER_US
from sim.workload.statement import Read, ReadKind, Script, Statement, Transaction

FOLDER = Path(__file__).resolve().parents[1] / "scenarios"

FSYNC_NS = NS_PER_MS
ONE_WAY_NS = 100 * NS_PER_US
REQUEST_NS = 100 * NS_PER_US
STATEMENT_NS = 500 * NS_PER_US

DISK = DiskSpec("constant", GIB, 1_000_000, Constant(FSYNC_NS))
NETWORK = NetworkSpec(Constant(2 * ONE_WAY_NS), None, 1000 * GIB)


@cache
def _shipped(name: str) -> Scenario:
    return next(iter(load_study(FOLDER / f"{name}.yaml").variants.values()))


def scenario(
    base: str = "hot_row",
    *,
    run: dict[str, Any] | None = None,
    cluster: dict[str, Any] | None = None,
    tidb: dict[str, Any] | None = None,
    cpu: dict[str, Any] | None = None,
    hardware: dict[str, Any] | None = None,
    tikv: dict[str, Any] | None = None,
    workload: dict[str, Any] | None = None,
) -> Scenario:
    """Returns the first variant of a shipped scenario with some of its resolved fields replaced."""
    shipped = _shipped(base)
    machines = replace(shipped.hardware, **hardware or {})
    nodes = replace(shipped.cluster, **cluster or {})
    return replace(
        shipped,
        run=replace(shipped.run, **run or {}),
        cluster=replace(nodes, tidb=replace(nodes.tidb, **tidb or {})),
        hardware=replace(machines, cpu=replace(machines.cpu, **cpu or {})),
        tikv=replace(shipped.tikv, **tikv or {}),
        workload=replace(shipped.workload, **workload or {}),
    )


MACHINES = {
    "raft_disk": DISK, "kv_disk": DISK, "network": NETWORK,
    "store_cores": 1_000, "threads_per_core": 1, "tidb_cores": 1_000,
}  # fmt: skip

CONSTANT_CPU = {
    "client_statement_ns": 0,
    "tidb_statement_ns": STATEMENT_NS,
    "tidb_write_ns": 0,
    "tidb_row_ns": 0,
    "tidb_request_ns": 0,
    "grpc_message_ns": 0,
    "grpc_request_ns": 0,
    "tikv_read_ns": REQUEST_NS,
    "tikv_command_ns": REQUEST_NS,
    "tikv_key_ns": 0,
    "tikv_load_lock_ns": 0,
    "tikv_record_ns": 0,
    "tikv_finish_ns": 0,
    "tikv_row_ns": 0,
    "tikv_block_ns": 0,
    "store_visit_ns": 0,
    "store_message_ns": 10 * NS_PER_US,
    "log_byte_ns": 0.0,
    "raftdb_record_ns": 0,
    "apply_command_ns": 20 * NS_PER_US,
    "apply_record_ns": 0,
    "kvdb_record_ns": 0,
    "compaction_byte_ns": 0.0,
    "thread_hop_ns": 0,
    "thread_run_ns": 0,
    "cv": 0.0,
}

IN_MEMORY: dict[str, object] = {"pipelined": True, "in_memory": True}
PIPELINED: dict[str, object] = {"pipelined": True, "in_memory": False}
SYNC: dict[str, object] = {"pipelined": False, "in_memory": False}


def constant_scenario(
    *,
    tikv: dict[str, Any] | None = None,
    tidb: dict[str, Any] | None = None,
    cpu: dict[str, Any] | None = None,
    hardware: dict[str, Any] | None = None,
    cluster: dict[str, Any] | None = None,
) -> Scenario:
    """Returns a scenario whose every cost is a constant: sync I/O, raftdb, one TiDB node."""
    return scenario(
        tikv={"store_io_pool_size": 0, "raft_engine_enable": False} | (tikv or {}),
        tidb=tidb,
        cpu=CONSTANT_CPU | (cpu or {}),
        hardware=MACHINES | (hardware or {}),
        cluster={"tidb_nodes": 1} | (cluster or {}),
    )


class Scene:
    """A cluster without clients, and a log of what came back: ``(at_ns, request)``."""

    def __init__(self, of: Scenario, start_keys: Sequence[bytes] = (b"",)) -> None:
        self.scenario = of
        self.env = LeanEnv()
        self.streams = Streams(1, 0)
        self.sink = MemorySink()
        self.recorder = Recorder(of.run.window_ns, self.sink)
        self.stats = ClientStats(self.recorder)
        regions = lay_out_regions(list(start_keys), of.cluster.stores, of.cluster.replicas)
        self.cluster = Cluster(self.env, of, regions, self.streams, self.recorder)
        self.fates = LockFates(self.env, self.recorder)
        self.checkers = Checkers(self.cluster, self.fates, 1)
        self.checkers.watch(self.cluster.probe)
        self.cluster.probe.add(self.fates)
        self.node = TidbNode(self.env, 0, of, self.cluster, self.streams, self.stats)
        self.replies: list[KvRequest] = []
        self.session = Session(self.node)
        self.env.process(self.session.ttl_manager.run())

    def replied(self, request: KvRequest) -> None:
        """Takes a reply, as a caller of requests does."""
        request.done_ns = self.env.now_ns
        self.replies.append(request)

    def request(self, kind: Kind, key: bytes, start_ts: int, **fields: Any) -> KvRequest:
        """Returns a request on one key; it is its own primary unless ``fields`` say otherwise."""
        request = KvRequest(kind, self.cluster.locate(key), self, 0, start_ts)
        request.keys = (key,)
        request.primary = key
        request.for_update_ts = start_ts
        request.min_commit_ts = start_ts + 1
        request.lock_ttl_ms = 20_000
        for name, value in fields.items():
            setattr(request, name, value)
        return request

    def send(
        self, kind: Kind, key: bytes, start_ts: int, at_ns: int = 0, **fields: Any
    ) -> KvRequest:
        """Sends such a request at ``at_ns``."""
        request = self.request(kind, key, start_ts, **fields)
        self.env.at(at_ns, self.node.send, request)
        return request

    def lock(self, key: bytes, start_ts: int, at_ns: int = 0, **fields: Any) -> KvRequest:
        """Sends a lock request."""
        return self.send(Kind.LOCK, key, start_ts, at_ns, **fields)

    def prewrite(self, key: bytes, start_ts: int, at_ns: int = 0, **fields: Any) -> KvRequest:
        """Sends a prewrite of ten bytes."""
        mutations = (Mutation(key, PUT, 10),)
        return self.send(
            Kind.PREWRITE, key, start_ts, at_ns, mutations=mutations, keys=(), **fields
        )

    def at(self, at_ns: int, look: Callable[[], object]) -> list[object]:
        """Looks at something at ``at_ns``; the list returned will hold what was seen."""
        seen: list[object] = []
        self.env.at(at_ns, lambda _: seen.append(look()), None)
        return seen

    def begin(self, transaction: Transaction, at_ns: int = 0) -> None:
        """Lets the node's session carry out a transaction, starting at ``at_ns``."""
        self.env.at(
            at_ns, lambda _: self.env.process(self.session.run(transaction, self.env.now_ns)), None
        )

    def run(self, until_ns: int = NS_PER_S) -> Scene:
        """Runs until ``until_ns``."""
        self.env.run_until(until_ns)
        return self

    def counted(self, metric: str, class_: str = "all") -> int:
        """Returns a counter."""
        return self.recorder.counter(metric, class_).value

    def locked_keys(self) -> list[bytes]:
        """Returns the keys that are locked, in memory or in the lock CF, by region."""
        routes = self.cluster.pd.routes.routes
        leaders = [self.cluster.leader_of(route.region.region_id) for route in routes]
        return [
            key for peer in leaders if peer for key in (*peer.locks.map, *peer.state.mvcc.locks)
        ]

    def leader(self, key: bytes) -> Peer:
        """Returns the replica that leads the region of ``key``."""
        peer = self.cluster.leader_of(self.cluster.locate(key).region.region_id)
        assert peer is not None, f"nobody leads the region of {key!r}"
        return peer

    def violations(self) -> list[str]:
        """Returns the laws that do not hold."""
        cluster, now_ns = self.cluster, self.env.now_ns
        checks = broken_conservation(cluster.disks(), cluster.ledger, self.stats, now_ns)
        conserved = [line for line in checks if line]
        return conserved + self.checkers.broken()


def update(*keys: bytes, value_bytes: int = 10, fresh_ts: bool = True) -> Statement:
    """Returns ``SELECT ... FOR UPDATE`` and a write of each key, in one statement."""
    writes = tuple(Mutation(key, PUT, value_bytes) for key in keys)
    return Statement("update", (), keys, writes, fresh_ts=fresh_ts)


def point_update(key: bytes) -> Statement:
    """Returns an UPDATE by primary key in auto-commit, which reads its row first."""
    read = Read(ReadKind.GET, (key,), 1)
    return Statement("update", (read,), (key,), (Mutation(key, PUT, 10),))


def script(*statements: Statement, name: str = "t", autocommit: bool = False) -> Script:
    """Returns a transaction of these statements."""
    return Script(name, list(statements), autocommit=autocommit)
