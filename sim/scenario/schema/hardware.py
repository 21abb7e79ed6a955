"""Section ``hardware``: disks, network, processors and what an LSM tree costs.

A disk, a network or the whole section may be named; the figures then come from
``scenarios/profiles``, each with its source, and keys written beside ``profile`` replace them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self, get_args

from sim.distributions import Distribution, Empirical
from sim.hardware.crowding import Crowding, Longer
from sim.hardware.disk import DiskSpec
from sim.hardware.file_system import FileSystemName
from sim.hardware.network import NetworkSpec
from sim.scenario.fields import (
    COST,
    PORT,
    SHARE,
    SWITCH,
    TEXT,
    Count,
    Key,
    ListOf,
    Number,
    OneOf,
    Size,
    Wrong,
)
from sim.scenario.schema.etcd import EtcdCosts
from sim.scenario.schema.shape import SHAPE, CrowdingSection, LongerSection
from sim.scenario.section import Document, Section, SectionOf
from sim.units import KIB

_AMPLIFICATION = Number(0, 1_000)
_SPEED = Number(0.1, 10)

SHARED = "shared"
"""What a file says in place of a KV disk where there is one disk for both."""

_SOURCE = TEXT.note("Source of the figures.", default=None)
_ASSUMED = ListOf(TEXT, at_most=50).note("Keys whose figures are unpublished.", default=[])


@dataclass(frozen=True, kw_only=True)
class Figures(Section):
    """Figures that may come from a profile, with what is known about them."""

    profile: ClassVar[Key] = TEXT.note(
        "Profile that supplies the figures not given here.", default=None
    )
    source: ClassVar[Key] = _SOURCE
    assumed: ClassVar[Key] = _ASSUMED


@dataclass(frozen=True, kw_only=True)
class DiskSection(Figures):
    """One disk of every store."""

    MAKES = DiskSpec

    name: str = TEXT.key("Name in reports. Source: the profile's name.", default="custom")
    write_bytes_per_s: int = PORT.key(
        "Bandwidth of sequential writes. Source: the profile.", name="write_bandwidth"
    )
    write_iops: int = Count(1, 100_000_000).key("Writes per second. Source: the profile.")
    append: Distribution = SHAPE.key(
        "Latency of one small append and its fsync on an idle disk. Source: the profile."
    )
    page_bytes: int = Size("512B", "1MiB").key(
        "Page size; a sync writes whole pages. Source: Linux page size, NVMe LBA formats.",
        default="4KiB",
    )
    io_bytes: int = Size("4KiB", "64MiB").key(
        "Largest single I/O; larger writes count as several. Source: AWS EBS docs, I/O "
        "characteristics: 256 KiB on SSD volumes.",
        default="256KiB",
        name="largest_io",
    )
    throttled: bool = SWITCH.key(
        "Whether a cloud's token buckets limit the disk instead of the device. Source: the "
        "profile.",
        default=False,
    )
    burst_ns: int = COST.key(
        "Idle time for which token buckets accumulate. Source: assumed, unpublished.",
        default="10ms",
    )
    longer: tuple[Longer, ...] = ListOf(SectionOf(LongerSection), at_most=64).key(
        "Latency of longer appends, by size, ascending; needs append as quantiles. Source: "
        "measured, none by default.",
        default=[],
    )
    crowding: Crowding | None = SectionOf(CrowdingSection).key(
        "Latency with several appends in flight; needs append as quantiles. Source: measured; by "
        "default they do not slow each other down.",
        default=None,
    )
    fetch: Distribution | None = SHAPE.key(
        "Latency of one random read on an idle disk. Source: assumed, that of an append.",
        default=None,
    )
    fetch_crowding: Crowding | None = SectionOf(CrowdingSection).key(
        "Latency with several reads in flight; needs fetch as quantiles. Source: measured; by "
        "default they do not slow each other down.",
        default=None,
    )
    read_bytes_per_s: int | None = PORT.key(
        "Bandwidth of random reads, of a device that writes nothing; none by default: reads do not "
        "use it up. Source: the profile.",
        default=None,
        name="read_bandwidth",
    )
    read_iops: int | None = Count(1, 100_000_000).key(
        "Random reads per second, likewise. Source: the profile.", default=None
    )

    def check(self) -> None:
        """Judges reads, whether what was measured builds on quantiles, and the order of sizes."""
        read = {"read_iops": self.read_iops, "read_bandwidth": self.read_bytes_per_s}
        missing = [name for name, figure in read.items() if figure is None]
        if len(missing) == 1:
            (given,) = read.keys() - missing
            raise Wrong(f"needs {missing[0]} besides; write both, or neither", at=given)
        if self.throttled and not missing:
            raise Wrong("throttled reads take the tokens of writes; leave it out", at="read_iops")
        for name, base, measured in (
            ("crowding", "append", self.crowding is not None),
            ("longer", "append", bool(self.longer)),
            ("fetch_crowding", "fetch", self.fetch_crowding is not None),
        ):
            shape = self.append if base == "append" else self.fetch
            if measured and not isinstance(shape, Empirical):
                message = f"needs {base} as quantiles; write them, or {name}: null"
                raise Wrong(message if name != "longer" else f"{message[:-4]}[]", at=name)
        sizes = [self.page_bytes, *(each.size_bytes for each in self.longer)]
        if sizes != sorted(set(sizes)):
            raise Wrong("sizes must ascend from above a page; sort them", at="longer")

    @classmethod
    def document_of(cls, value: Any) -> Document:
        """Returns a disk's keys, without what a disk without measurements would say."""
        document = super().document_of(value)
        return {key: said for key, said in document.items() if said != []}


@dataclass(frozen=True, kw_only=True)
class DisksSection(Section):
    """Where the raft log and the data lie."""

    raft: DiskSpec = SectionOf(DiskSection).key("Disk of the raft log. Source: the profile.")
    kv: DiskSpec | None = SectionOf(DiskSection).key(
        "Disk of the KV engine; shared: the raft log's disk. Source: TiKV docs: one data-dir by "
        "default.",
        default=None,
    )


@dataclass(frozen=True, kw_only=True)
class NetworkSection(Figures):
    """Latencies between nodes, as round trips, and the nodes' ports."""

    MAKES = NetworkSpec

    same_zone: Distribution = SHAPE.key("Round trip inside a zone. Source: the profile.")
    cross_zone: Distribution | None = SHAPE.key(
        "Round trip between zones; required with two zones or more. Source: the profile.",
        default=None,
    )
    bandwidth_bytes_per_s: int = PORT.key(
        "Bandwidth of a node's port. Source: AWS docs: i3.4xlarge, up to 10 Gbit/s.",
        default="10Gbit/s",
    )


@dataclass(frozen=True, kw_only=True)
class CpuCosts(Section):
    """Mean CPU time of each kind of work, on a core of i3.4xlarge or (TiDB's) of c5.4xlarge.

    Those whose source is "fit" were fitted together to published throughputs and latencies of
    several workloads: ``docs/CALIBRATION.md``.
    """

    client_statement_ns: int = COST.key(
        "Clients' machine, per statement: driver and proxy. Source: assumed.", default="40us"
    )
    tidb_statement_ns: int = COST.key(
        "TiDB, per statement: packets, plan cache, result. Source: fit.", default="27us"
    )
    tidb_write_ns: int = COST.key(
        "TiDB, extra for a statement that locks or writes: executor, transaction buffer. Source: "
        "derived from TiDB's CPU on published dashboards.",
        default="240us",
    )
    tidb_row_ns: int = COST.key(
        "TiDB, per row that a statement reads, locks or writes. Source: assumed.", default="5us"
    )
    tidb_request_ns: int = COST.key(
        "TiDB, per request to a store and its answer: client-go. Source: assumed.", default="10us"
    )
    grpc_message_ns: int = COST.key(
        "gRPC, per message at either end, however many requests it carries: system call, HTTP/2 "
        "frame, flow control. Source: assumed.",
        default="10us",
    )
    grpc_request_ns: int = COST.key(
        "TiKV's gRPC thread, per request and its answer. Source: assumed.", default="4us"
    )
    tikv_read_ns: int = COST.key("TiKV's read pool, per read. Source: assumed.", default="10us")
    tikv_command_ns: int = COST.key(
        "TiKV's scheduler pool, per command. Source: TiDB docs' dashboards: inside an idle TiKV a "
        "lock in memory takes 119 us and a get 85, so 34 us more than tikv_read.",
        default="44us",
    )
    tikv_record_ns: int = COST.key(
        "TiKV's scheduler pool, per record that a command writes: encoding it, its request to "
        "Raft. Source: assumed.",
        default="3us",
    )
    tikv_finish_ns: int = COST.key(
        "TiKV's scheduler pool, per written command: its end, once it is applied; since v6.5 also "
        "the answer to a pipelined lock, once it is proposed. Source: assumed.",
        default="10us",
    )
    tikv_key_ns: int = COST.key(
        "TiKV, per key of a read, a lock request, or an optimistic prewrite: finding its locks and "
        "versions. Source: fit.",
        default="41us",
    )
    tikv_load_lock_ns: int = COST.key(
        "TiKV, per key of any other command, which finds its lock and looks no further. Source: "
        "measured, a get from the lock CF: 3.2 to 4.2 on i3.4xlarge.",
        default="3.6us",
    )
    tikv_row_ns: int = COST.key(
        "TiKV, per row of a range scan: a step of its iterators, the row's columns. Source: "
        "tikv/tikv#4501, table scans over RocksDB: 1.1 to 1.3.",
        default="1.2us",
    )
    tikv_block_ns: int = COST.key(
        "TiKV, per 64 KiB of blocks that are not in the block cache: checksum, decompression. "
        "Source: facebook/zstd's README: about 550 MB/s on one core.",
        default="120us",
    )
    store_visit_ns: int = COST.key(
        "Store poller, per visit to a peer with mail. Source: fit.", default="6us"
    )
    store_message_ns: int = COST.key(
        "Store poller, per message of a region. Source: assumed.", default="5us"
    )
    log_byte_ns: float = Number(0, 1_000).key(
        "Store poller, per byte of the entries that it appends. Source: assumed.", default=2.0
    )
    raftdb_record_ns: int = COST.key(
        "RocksDB as the raft log, per record: store pollers put each entry and the region's state, "
        "and a background thread deletes each entry. Source: measured, 1.7 to 3.4 a put on "
        "i3.4xlarge.",
        default="2.6us",
    )
    apply_command_ns: int = COST.key("Apply thread, per command. Source: assumed.", default="5us")
    apply_record_ns: int = COST.key(
        "Apply thread, per record, besides RocksDB: parsing it, whether it is the region's. "
        "Source: fit.",
        default="7.5us",
    )
    kvdb_record_ns: int = COST.key(
        "Apply thread, per record that it puts or deletes in RocksDB. Source: measured, 4 to 5.8 "
        "on i3.4xlarge as memtables fill; the middle.",
        default="4.8us",
    )
    compaction_byte_ns: float = Number(0, 1_000).key(
        "Background threads, per byte flushed or compacted; no request waits for them. Source: "
        "measured, 2.6 to 4.5 for rows of 300 bytes, 14 for records of 50, on i3.4xlarge.",
        default=8.7,
    )
    thread_hop_ns: int = COST.key(
        "Time from waking a thread until it runs, on an idle node. Source: TiKV docs, tune thread "
        "performance: 20 to 50 us.",
        default="35us",
    )
    thread_run_ns: int = COST.key(
        "How long a thread runs at a time: on a busy node, woken threads wait for those that run. "
        "Source: fit.",
        default="105us",
    )
    smt_gain: float = Number(0, 1).key(
        "Capacity added by a core's second busy hardware thread, in cores. Source: Intel, "
        "Hyper-Threading Technology: up to 30 %.",
        default=0.3,
    )
    cv: float = Number(0, 10).key(
        "Coefficient of variation of every CPU time. Source: assumed, that of an exponential.",
        default=1.0,
    )

    def on(self, core_speed: float) -> Self:
        """Returns the costs on other cores; there, too, waking a thread takes as long."""
        if core_speed == 1:
            return self
        costs = {
            each.name: round(value / core_speed) if isinstance(value, int) else value / core_speed
            for each in fields(self)
            if each.name.endswith("_ns") and each.name != "thread_hop_ns"
            for value in [getattr(self, each.name)]
        }
        return replace(self, **costs)


@dataclass(frozen=True, kw_only=True)
class LsmSpec(Section):
    """How often a byte is written again after the log."""

    write_amplification: float = _AMPLIFICATION.key(
        "Bytes flushed and compacted per byte entering the default and write CF; 1: flush only. "
        "Source: assumed; TiDB docs' dashboards of long TPC-C runs show 4.6.",
        default=3.0,
    )
    lock_write_amplification: float = _AMPLIFICATION.key(
        "The same for the lock CF's tombstones; puts never leave the memtable. Source: assumed; "
        "tikv/tikv src/config/mod.rs, lockcf.level0-file-num-compaction-trigger 1.",
        default=1.0,
    )
    raftdb_rewrite: float = _AMPLIFICATION.key(
        "Bytes flushed per byte of raftdb's log. Source: assumed; a memtable is flushed once, "
        "less what was deleted in it before.",
        default=1.0,
    )
    raft_engine_compression: float = SHARE.key(
        "Stored bytes per byte of a raft-engine batch above 8 KiB (since v8.2 with write workers "
        "4 KiB; lz4). Source: TiDB docs, release 5.4.0: 25 to 40 % fewer bytes.",
        default=0.6,
    )
    block_compression: float = Number(0.01, 1).key(
        "Stored bytes per byte of a table's blocks, in files and in the page cache (zstd in the "
        "last levels, which hold nearly all). Source: measured, docs/CALIBRATION.md.",
        default=0.6,
    )


@dataclass(frozen=True, kw_only=True)
class Hardware(Section):
    """Disks, network and CPU of the nodes."""

    profile: str = TEXT.key(
        "Name of the hardware, see scenarios/profiles. Source: TiDB docs, v6.0 TPC-C benchmark: "
        "TiKV on i3.4xlarge.",
        default="i3.4xlarge",
    )
    source: ClassVar[Key] = _SOURCE
    assumed: ClassVar[Key] = _ASSUMED
    disk: ClassVar[Key] = SectionOf(DisksSection).note("Disks of every store. Source: the profile.")
    raft_disk: DiskSpec
    kv_disk: DiskSpec | None
    """None: KV data is on the raft disk."""
    file_system: FileSystemName = OneOf(*get_args(FileSystemName)).key(
        "File system, which determines the metadata that a sync of a growing log writes. Source: "
        "TiDB docs, system requirements: ext4; the bytes are measured, docs/CALIBRATION.md.",
        default="ext4",
    )
    network: NetworkSpec = SectionOf(NetworkSection).key(
        "Network between all nodes. Source: the profile."
    )
    store_cores: int = Count(1, 1_024).key(
        "Hardware threads of a store. Source: AWS docs: i3.4xlarge, 16 vCPU.", default=16
    )
    threads_per_core: int = Count(1, 8).key(
        "Hardware threads per core of stores and TiDB nodes. Source: AWS docs, CPU options: 2 on "
        "every instance type shipped as a profile.",
        default=2,
    )
    tidb_cores: int = Count(1, 1_024).key(
        "Hardware threads of a TiDB node. Source: AWS docs: c5.4xlarge, 16 vCPU.", default=16
    )
    store_core_speed: float = _SPEED.key(
        "Speed of a store's cores over that of i3.4xlarge's, Broadwell at 2.7 GHz with all of them "
        "busy. Source: the profile; AWS docs, processor state control.",
        default=1.0,
    )
    tidb_core_speed: float = _SPEED.key(
        "Speed of a TiDB node's cores over that of c5.4xlarge's, Skylake at 3.4 GHz with all of "
        "them busy. Source: AWS, EC2 C5 instances.",
        default=1.0,
    )
    client_cores: int = Count(1, 1_024).key(
        "Hardware threads of the machine of clients and proxy. Source: AWS docs: c5.9xlarge, 36 "
        "vCPU.",
        default=36,
    )
    store_memory_bytes: int = Size("1GiB", "64TiB").key(
        "Memory of a store. Source: AWS docs: i3.4xlarge, 122 GiB.", default="122GiB"
    )
    page_cache_share: float = Number(0, 0.5).key(
        "Of a store's memory, what TiKV leaves to the operating system to keep files in. Source: "
        "TiDB docs, TiKV configuration file, memory-usage-limit: 25 %.",
        default=0.25,
    )
    cpu: CpuCosts = SectionOf(CpuCosts).key("CPU costs. Source: see each key.", default={})
    lsm: LsmSpec = SectionOf(LsmSpec).key(
        "Rewriting by the LSM tree. Source: see each key.", default={}
    )
    shared: bool = SWITCH.key(
        "Whether members and clients share one machine, with store_cores cores and one disk; etcd "
        "only. Source: our own default.",
        default=False,
    )
    etcd: EtcdCosts = SectionOf(EtcdCosts).key(
        "CPU costs of an etcd member. Source: see each key.", default={}
    )

    @classmethod
    def made(cls, values: Mapping[str, Any]) -> Self:
        """Returns the hardware with its disks side by side."""
        disks: DisksSection = values["disk"]
        return super().made({**values, "raft_disk": disks.raft, "kv_disk": disks.kv})

    @classmethod
    def document_of(cls, value: Any) -> Document:
        """Returns the keys with the disks below one of them."""
        kv = SHARED if value.kv_disk is None else DiskSection.document_of(value.kv_disk)
        disks = {"raft": DiskSection.document_of(value.raft_disk), "kv": kv}
        return {"profile": value.profile, "disk": disks} | super().document_of(value)

    @cached_property
    def store_cpu(self) -> CpuCosts:
        """The costs on a store's cores."""
        return self.cpu.on(self.store_core_speed)

    @cached_property
    def tidb_cpu(self) -> CpuCosts:
        """The costs on a TiDB node's cores."""
        return self.cpu.on(self.tidb_core_speed)

    @property
    def goroutine_threads(self) -> int:
        """Hardware threads of a TiDB node that Go's collector leaves to requests."""
        return max(1, round(self.tidb_cores * (1.0 - GC_SHARE)))

    @property
    def block_cache_bytes(self) -> float:
        """``storage.block-cache.capacity``: 45 % of a store's memory."""
        return CACHE_SHARE * self.store_memory_bytes

    @property
    def page_cache_bytes(self) -> float:
        """Memory that keeps files as they are stored."""
        return self.page_cache_share * self.store_memory_bytes

    def stored_bytes(self, block_bytes: int) -> int:
        """Returns the size of a table's block in its file."""
        return int(block_bytes * self.lsm.block_compression)

    def unpacking_ns(self, block_bytes: int) -> int:
        """Returns the CPU of a block that is not in the block cache."""
        return self.store_cpu.tikv_block_ns * block_bytes // UNPACKED_BYTES


GC_SHARE = 0.25
"""Of a TiDB node's hardware threads, what Go's collector takes while it marks.

That it always marks is assumed; under load it does most of the time. Source: golang/go
src/runtime/mgcpacer.go, gcBackgroundUtilization.
"""

CACHE_SHARE = 0.45
"""``storage.block-cache.capacity`` is 45 % of the memory."""

UNPACKED_BYTES = 64 * KIB
"""What ``tikv_block`` is the cost of."""

NAMED: dict[tuple[str, ...], str] = {
    ("disk", "raft"): "disks",
    ("disk", "kv"): "disks",
    ("network",): "networks",
}
"""Keys of the section whose value may be a profile's name, and the file that has the profile."""
