"""A resolved scenario: what one simulation is built from, in integer nanoseconds and bytes.

Law: everything is decided here. Defaults are filled in, profiles are looked up, ``auto`` is left
only where the answer needs data of the run itself (a workload's regions, the length of a warm-up).
Values are frozen, compare by content and travel between processes; nothing here reads a file.
Names of settings are TiKV's, TiDB's and fio's own, with dots and hyphens as underscores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sim.distributions import Distribution
from sim.hardware.disk import DiskSpec
from sim.hardware.file_system import FileSystemName
from sim.hardware.network import NetworkSpec
from sim.scenario.resolved_operations import Operation
from sim.scenario.resolved_tikv import Tikv

ETCD = "etcd"
"""The kind of workload whose stores are etcd members."""

AUTO_WARMUP_SHARE = 2
"""With ``warmup: auto`` a unit runs longer by measure / this; MSER-5 then says what to cut."""

Verb = Literal["read", "lock", "update", "insert"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How long, how often, and with which random draws."""

    seed: int
    warmup_ns: int | None
    """Simulated time left out of every figure; None: found in the facts of each replication."""
    measure_ns: int
    replications: int
    window_ns: int
    """Facts are summed up per window of this length."""
    checks: bool
    """Whether observers watch for broken invariants."""

    @property
    def simulated_warmup_ns(self) -> int:
        """Simulated time before ``measure_ns``, of which ``auto`` cuts what the facts say."""
        return self.measure_ns // AUTO_WARMUP_SHARE if self.warmup_ns is None else self.warmup_ns


@dataclass(frozen=True, slots=True, kw_only=True)
class Tidb:
    """System variables and settings of TiDB that change what it asks of TiKV."""

    async_commit: bool
    one_pc: bool
    guarantee_linearizability: bool
    innodb_lock_wait_timeout_ns: int
    fair_locking: bool
    max_retry_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """How many of everything, and where."""

    stores: int
    replicas: int
    zones: int
    """Stores and TiDB nodes are assigned to the zones in turn."""
    tidb_nodes: int
    regions: int | None
    """None: as many as the data needs at ``region_split_size_bytes``."""
    store_versions: tuple[str, ...]
    """TiKV's version on each store at the start, such as ``6.0.0``."""
    tidb: Tidb


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuCosts:
    """Mean CPU time of each kind of work on one core."""

    tidb_statement_ns: int
    statement_delay_ns: int
    """No CPU: time of a statement that nothing in the model accounts for."""
    tikv_request_ns: int
    tikv_background_ns: int
    """CPU of a request after its answer: network, gRPC, compaction threads."""
    tikv_extra_key: float
    """Part of ``tikv_request_ns`` that each key beyond the first adds."""
    store_message_ns: int
    apply_command_ns: int
    apply_key_ns: int
    thread_hop_ns: int
    smt_gain: float
    """What a core's second busy hardware thread adds, in cores."""
    cv: float
    """Coefficient of variation (deviation / mean) of every draw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EtcdCosts:
    """Mean CPU time of each kind of work of etcd's members and their clients, on one core."""

    burst_ns: int
    """One read from, or write to, a connection, by a member or a client."""
    request_ns: int
    """A request on the member it came to, half on its way in, half on its way out."""
    client_ns: int
    """A request on its client, likewise."""
    round_ns: int
    """One turn of the raft loop."""
    entry_ns: int
    """An entry on each member, half when it is saved, half when it is applied."""
    sync_ns: int
    """One write with its fdatasync."""
    backend_commit_ns: int
    """One commit of bolt, without its writes."""
    process_share: float
    """Part of a core that every process uses whatever it has to do."""
    watch_ns: int
    """One look of a process's monitor, a thread of Go's runtime."""
    kernel_share: float
    """Part of a core that a machine's kernel uses on behalf of no process."""
    time_slice_ns: int
    """How long a thread keeps a core that others wait for."""
    wake_ns: int
    """How long an idle core needs until it runs a thread."""
    relay_ns: int
    """A message between zones, on a shared machine whose delays a process makes; 0: none does."""
    byte_ns: float
    """A byte of key and value, each time that it is read, sent, saved or applied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LsmSpec:
    """How often a byte is written again after the log."""

    write_amplification: float
    """Bytes flushed and compacted per byte entering the default and write CF; 1: flush only."""
    lock_write_amplification: float
    """The same for the lock CF, of which only tombstones reach a flush."""
    raftdb_rewrite: float
    """Bytes flushed per byte of raftdb's log."""
    raft_engine_compression: float
    """Stored bytes per byte of a raft-engine batch that is compressed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """What the nodes are made of; all stores alike, all TiDB nodes alike."""

    profile: str
    raft_disk: DiskSpec
    kv_disk: DiskSpec | None
    """None: KV data is on the raft disk."""
    file_system: FileSystemName
    network: NetworkSpec
    store_cores: int
    """Hardware threads (vCPUs) of a store."""
    threads_per_core: int
    tidb_cores: int
    store_memory_bytes: int
    cpu: CpuCosts
    lsm: LsmSpec
    shared: bool
    """Whether all nodes are processes of one machine with one disk (etcd only)."""
    etcd: EtcdCosts

    @property
    def read_pool_threads(self) -> int:
        """``readpool.unified.max-thread-count``: 80 % of the cores, at least 4."""
        return max(4, int(0.8 * self.store_cores))


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSpec:
    """A table of a custom mix: rows 1 to ``rows``, each with a value of ``row_bytes``."""

    name: str
    rows: int
    row_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementSpec:
    """A statement of a custom mix."""

    verb: Verb
    table: str
    rows: int | None
    """How many different rows; None with ``update``: those the transaction has locked there."""
    hot_rows: int = 0
    """The first rows of the table, to which ``hot_fraction`` of the draws go."""
    hot_fraction: float = 0.0
    like: str = ""
    """The rows with the numbers that the transaction has locked in this other table."""
    pause_ns: int = 0
    """The client waits this long before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionSpec:
    """A transaction of a custom mix."""

    name: str
    weight: float
    statements: tuple[StatementSpec, ...]
    autocommit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What clients ask for; each kind reads its own part."""

    kind: str
    threads: int | None = None
    """Closed loop: clients that wait for each answer. Exactly one of this and ``rate_per_s``."""
    rate_per_s: float | None = None
    """Open loop: transactions arrive at this mean rate, whatever the answers."""
    think_time: Distribution | None = None
    """Closed loop: pause of a client between two transactions."""
    warehouses: int = 0
    """tpcc."""
    mix: Mapping[str, float] | None = None
    """tpcc: weights by transaction type; None: go-tpc's."""
    tables: int = 0
    """oltp_*."""
    table_rows: int = 0
    """oltp_*: rows of each table."""
    rand_type: Literal["uniform", "special"] = "uniform"
    """oltp_*: how ids are drawn."""
    custom_tables: tuple[TableSpec, ...] = ()
    """custom."""
    transactions: tuple[TransactionSpec, ...] = ()
    """custom."""
    keys: int = 0
    """etcd: how many different keys are put."""
    key_bytes: int = 0
    """etcd."""
    value_bytes: int = 0
    """etcd."""
    connections: int = 0
    """etcd: the most connections that a node's clients share."""
    timeout_ns: int = 0
    """etcd: after which a put that was not answered has failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One variant at one point of a study."""

    about: str
    run: Run
    cluster: Cluster
    hardware: Hardware
    tikv: Tikv
    workload: Workload
    operations: tuple[Operation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """A claim that a study checks, on the ends of an interval."""

    metric: str
    stat: str
    class_: str
    variant: str
    against: str | None
    """The variant that ``variant`` is divided by; None: the figure itself is judged."""
    below: float | None
    above: float | None
    at_point: Mapping[str, object] | None = None
    """Only at the points with these values of the swept keys."""
