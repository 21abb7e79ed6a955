"""Section ``hardware``: disks, network, processors and what an LSM tree costs.

A disk, a network or the whole section may be named; the figures then come from
``scenarios/profiles``, each with its source, and keys written beside ``profile`` replace them.
"""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import model_validator

from sim.distributions import Empirical
from sim.hardware.file_system import FileSystemName
from sim.scenario.fields import (
    Bandwidth,
    Cost,
    Count,
    Number,
    Quantity,
    Section,
    Share,
    Switch,
    Text,
    key,
    wrong,
)
from sim.scenario.quantities import SIZE
from sim.scenario.schema.etcd import EtcdCostsSection
from sim.scenario.schema.shape import CrowdingSection, LongerSection, Shape

_Amplification = Annotated[float, Number(0, 1_000)]


class Figures(Section):
    """Figures that may come from a profile, with what is known about them."""

    profile: Text | None = key(
        default=None, description="Profile that gives the figures not written here."
    )
    source: Text | None = key(default=None, description="Where the figures are from.")
    assumed: list[Text] = key(
        default=[], description="Keys whose figures nobody has published.", max_length=50
    )


class DiskSection(Figures):
    """One disk of every store."""

    name: Text = key(
        default="custom", description="As reports call it. Source: the profile's name."
    )
    write_bandwidth: Bandwidth = key(description="Sequential writes. Source: the profile.")
    write_iops: Annotated[int, Count(1, 100_000_000)] = key(
        description="Writes per second. Source: the profile."
    )
    append: Shape = key(
        description="Latency of one small append and its fsync on an idle disk. Source: the "
        "profile."
    )
    page: Annotated[int, Quantity(SIZE, "512B", "1MiB")] = key(
        default="4KiB",
        description="A sync writes whole pages. Source: Linux page size, NVMe LBA formats.",
    )
    largest_io: Annotated[int, Quantity(SIZE, "4KiB", "64MiB")] = key(
        default="256KiB",
        description="Larger writes count as several I/Os. Source: AWS EBS docs, I/O "
        "characteristics: 256 KiB on SSD volumes.",
    )
    throttled: Switch = key(
        default=False,
        description="Whether a cloud's token buckets limit it, not the device. Source: the "
        "profile.",
    )
    burst: Cost = key(
        default="10ms",
        description="How much idle time the token buckets save up. Source: assumed, no cloud "
        "publishes it.",
    )
    longer: list[LongerSection] = key(
        default=[],
        description="Latency of longer appends, by size, ascending; needs append as quantiles. "
        "Source: measured, none by default.",
        max_length=64,
    )
    crowding: CrowdingSection | None = key(
        default=None,
        description="Latency with several appends in flight; needs append as quantiles. Source: "
        "measured; by default they do not disturb each other.",
    )
    fetch: Shape | None = key(
        default=None,
        description="Latency of one random read on an idle disk. Source: assumed, that of an "
        "append.",
    )
    fetch_crowding: CrowdingSection | None = key(
        default=None,
        description="Latency with several reads in flight; needs fetch as quantiles. Source: "
        "measured; by default they do not disturb each other.",
    )

    @model_validator(mode="after")
    def _builds_on_quantiles(self) -> Self:
        for name, base, given in (
            ("crowding", "append", self.crowding is not None),
            ("longer", "append", bool(self.longer)),
            ("fetch_crowding", "fetch", self.fetch_crowding is not None),
        ):
            shape: Shape | None = getattr(self, base)
            if given and not (shape and isinstance(shape.distribution(), Empirical)):
                message = f"needs {base} as quantiles; write them, or {name}: null"
                raise wrong(message if name != "longer" else f"{message[:-4]}[]", at=name)
        sizes = [self.page, *(each.size for each in self.longer)]
        if sizes != sorted(set(sizes)):
            raise wrong("sizes must ascend from above a page; sort them", at="longer")
        return self


class DisksSection(Section):
    """Where the raft log and the data lie."""

    raft: DiskSection = key(description="Disk of the raft log. Source: the profile.")
    kv: DiskSection | None = key(
        default=None,
        description="Disk of the KV engine, or shared: the raft log's. Source: TiKV docs: one "
        "data-dir by default.",
    )


class NetworkSection(Figures):
    """Latencies between nodes, as round trips, and the nodes' ports."""

    same_zone: Shape = key(description="Round trip inside a zone. Source: the profile.")
    cross_zone: Shape | None = key(
        default=None,
        description="Round trip between zones; needed from two zones. Source: the profile.",
    )
    bandwidth: Bandwidth = key(
        default="10Gbit/s",
        description="Of a node's port. Source: AWS docs: i3.4xlarge, up to 10 Gbit/s.",
    )


class CpuSection(Section):
    """Mean CPU time of each kind of work on one core.

    Two of them (statement_delay, store_message) were fitted together to the throughput of four
    published TPC-C rows: TiDB docs, performance benchmarking with TPC-C, v5.4.0 and v6.0.0, 50 and
    400 threads, the mean of two publications of each row.
    """

    tidb_statement: Cost = key(
        default="400us",
        description="TiDB, per statement. Source: TiDB docs, performance tuning methods: 7.6 busy "
        "threads on each of 3 nodes at 3,777 TPC-C transactions/s, 6.0 ms each, 14.7 statements.",
    )
    statement_delay: Cost = key(
        default="600us",
        description="Time of a statement between client and TiDB beyond a round trip and CPU; no "
        "station is busy. Source: fit to the rows above; a catch-all for what the model lacks.",
    )
    tikv_request: Cost = key(
        default="119us",
        description="TiKV, per request of one key, before it is answered. Source: TiDB docs, "
        "performance tuning methods, low-load OLTP: a lock request inside TiKV.",
    )
    tikv_background: Cost = key(
        default="145us",
        description="TiKV, per request, that nobody waits for: network, gRPC, compaction. Source: "
        "TiDB docs' dashboards, 10.7 ms of TiKV CPU a TPC-C transaction, less what is modelled.",
    )
    tikv_extra_key: Annotated[float, Number(0, 10)] = key(
        default=0.12,
        description="Part of tikv_request that each further key adds. Source: assumed.",
    )
    store_message: Cost = key(
        default="54us",
        description="Store poller, per message of a region. Source: fit to the rows above; five "
        "messages a proposal are 0.27 ms of a cluster's CPU; TiDB docs' dashboards: 0.30 to 0.51.",
    )
    apply_command: Cost = key(
        default="25us",
        description="Apply thread, per command. Source: assumed, a part of store_message.",
    )
    apply_key: Cost = key(
        default="5us", description="Apply thread, per key. Source: assumed, a RocksDB batch insert."
    )
    thread_hop: Cost = key(
        default="30us",
        description="Waking another thread. Source: TiKV docs, tune thread performance: 20 to 50.",
    )
    smt_gain: Annotated[float, Number(0, 1)] = key(
        default=0.3,
        description="What a core's second busy hardware thread adds, in cores. Source: Intel, "
        "Hyper-Threading Technology: up to 30 %.",
    )
    cv: Annotated[float, Number(0, 10)] = key(
        default=0.5, description="Coefficient of variation of every draw. Source: assumed."
    )


class LsmSection(Section):
    """How often a byte is written again after the log."""

    write_amplification: _Amplification = key(
        default=3.0,
        description="Bytes flushed and compacted per byte entering the default and write CF; 1: "
        "flush only. Source: assumed; TiDB docs' dashboards of long TPC-C runs show 4.6.",
    )
    lock_write_amplification: _Amplification = key(
        default=1.0,
        description="The same for the lock CF's tombstones; puts die in the memtable. Source: "
        "assumed; tikv/tikv src/config/mod.rs, lockcf.level0-file-num-compaction-trigger 1.",
    )
    raftdb_rewrite: _Amplification = key(
        default=1.0,
        description="Bytes flushed per byte of raftdb's log. Source: assumed; a memtable is "
        "flushed once, less what was deleted in it before.",
    )
    raft_engine_compression: Share = key(
        default=0.6,
        description="Stored bytes per byte of a raft-engine batch above 8 KiB (since v8.2 with "
        "write workers 4 KiB; lz4). Source: TiDB docs, release 5.4.0: 25 to 40 % fewer bytes.",
    )


class HardwareSection(Section):
    """What the nodes are made of."""

    profile: Text = key(
        default="i3.4xlarge",
        description="Named hardware, see scenarios/profiles. Source: TiDB docs, v6.0 TPC-C "
        "benchmark: TiKV on i3.4xlarge.",
    )
    source: Text | None = key(default=None, description="Where the figures are from.")
    assumed: list[Text] = key(
        default=[], description="Keys whose figures nobody has published.", max_length=50
    )
    disk: DisksSection = key(description="Disks of every store. Source: the profile.")
    file_system: FileSystemName = key(
        default="ext4",
        description="Says what a sync of a growing log writes besides. Source: TiDB docs, system "
        "requirements: ext4; the bytes are measured, docs/CALIBRATION.md.",
    )
    network: NetworkSection = key(description="Between all nodes. Source: the profile.")
    store_cores: Annotated[int, Count(1, 1_024)] = key(
        default=16,
        description="Hardware threads of a store. Source: AWS docs: i3.4xlarge, 16 vCPU.",
    )
    threads_per_core: Annotated[int, Count(1, 8)] = key(
        default=2,
        description="Hardware threads of one core, of stores and TiDB nodes. Source: AWS docs, "
        "CPU options: 2 on every instance type shipped as a profile.",
    )
    tidb_cores: Annotated[int, Count(1, 1_024)] = key(
        default=16,
        description="Hardware threads of a TiDB node. Source: AWS docs: c5.4xlarge, 16 vCPU.",
    )
    store_memory: Annotated[int, Quantity(SIZE, "1GiB", "64TiB")] = key(
        default="122GiB", description="Memory of a store. Source: AWS docs: i3.4xlarge, 122 GiB."
    )
    cpu: CpuSection = key(
        default_factory=CpuSection, description="What work costs. Source: key by key."
    )
    lsm: LsmSection = key(
        default_factory=LsmSection, description="Rewriting by the LSM tree. Source: key by key."
    )
    shared: Switch = key(
        default=False,
        description="Whether members and clients are processes of one machine, with store_cores "
        "cores and one disk; etcd only. Source: our own default.",
    )
    etcd: EtcdCostsSection = key(
        default_factory=EtcdCostsSection,
        description="What an etcd member's work costs. Source: key by key.",
    )


NAMED: dict[tuple[str, ...], str] = {
    ("disk", "raft"): "disks",
    ("disk", "kv"): "disks",
    ("network",): "networks",
}
"""Keys of the section whose value may be a profile's name, and the file that has the profile."""
