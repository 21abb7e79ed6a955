"""Anchors measured on one machine: a real etcd, RocksDB by itself, its disk.

Two vCPUs, virtio disk, ext4 without a journal, 2026-11-21; one run a point, so that nothing is
known of their spread. How, with what and what is wrong with it: docs/ETCD.md, docs/CALIBRATE.md.
"""

from __future__ import annotations

from typing import Final

from analysis.metrics.catalogue import MetricKey
from analysis.validation.anchor import Alone, Anchor, Band, Figure, InStudy, Origin

_BAND: Final = Band(share=0.15)
_COLUMNS: Final = (
    ("puts per second", "1/s", "txn_per_s", 1.0),
    ("p50", "ms", "txn_latency_ms.p50", 1.0),
    ("p90", "ms", "txn_latency_ms.p90", 1.0),
    ("p99", "ms", "txn_latency_ms.p99", 1.0),
)
_ETCD: Final = {
    ("etcd_loopback", 1): (1152.2, 0.825, 1.095, 1.566),
    ("etcd_loopback", 4): (2122.2, 1.736, 2.709, 4.681),
    ("etcd_loopback", 16): (2757.2, 5.349, 8.528, 14.531),
    ("etcd_1ms", 1): (437.9, 2.217, 2.588, 3.980),
    ("etcd_1ms", 8): (1526.6, 4.832, 7.372, 12.967),
    ("etcd_1ms", 64): (3535.6, 16.933, 25.823, 38.835),
}
_WHERE: Final = {"etcd_loopback": "loopback", "etcd_1ms": "1 ms apart"}


def _measured(
    name: str, conditions: str, source: str, unit: str, value: float, origin: Origin
) -> Anchor:
    return Anchor(
        name=name,
        kind="measured",
        conditions=conditions,
        source=source,
        unit=unit,
        theirs=Figure.exactly(value),
        band=_BAND,
        origin=origin,
    )


def _etcd() -> list[Anchor]:
    return [
        Anchor(
            name=f"etcd {what}, {_WHERE[study]}, {clients} client{'s' * (clients > 1)}",
            kind="measured",
            conditions="three members and their clients on one machine with two cores",
            source="etcd 3.4.23, tests/testdata/lab/etcd.json",
            unit=unit,
            theirs=Figure.exactly(value),
            band=_BAND,
            origin=InStudy(
                study, "one_machine", MetricKey.parse(metric),
                point={"workload.threads": clients}, scale=scale,
            ),
            quick=clients == 4,
        )
        for (study, clients), values in _ETCD.items()
        for (what, unit, metric, scale), value in zip(_COLUMNS, values, strict=True)
    ]  # fmt: skip


def _of_rocksdb(variant: str, *, against: str | None = None) -> InStudy:
    key = MetricKey.parse("disk_write_bytes_per_txn.kv_wal")
    if against is not None:
        return InStudy("rocksdb_locks", variant, key, against=against, scale=100.0, change=True)
    return InStudy("rocksdb_locks", variant, key, scale=1 / 3)  # of one of three replicas


_TEN_ROWS: Final = "ten rows per transaction, with or without a lock record before prewrite"
_ROCKSDB: Final = "RocksDB 7.8.3 with TiKV's column families and options"
_WAL: Final = (
    _measured("WAL bytes with lock records", _TEN_ROWS, _ROCKSDB, "B", 5361.8,
              _of_rocksdb("pipelined")),
    _measured("WAL bytes without lock records", _TEN_ROWS, _ROCKSDB, "B", 4309.7,
              _of_rocksdb("in_memory")),
    Anchor(
        name="WAL bytes, without over with",
        kind="measured",
        conditions=_TEN_ROWS,
        source=_ROCKSDB,
        unit="%",
        theirs=Figure.exactly(-19.6),
        band=Band(amount=3.0),
        origin=_of_rocksdb("in_memory", against="pipelined"),
    ),
)  # fmt: skip

_FSYNC: Final = "the device's own counters around appends, each with fdatasync"
_EXT4: Final = "ext4 without a journal; its metadata was measured elsewhere"
_DEVICE: Final = tuple(
    _measured(f"device bytes a sync, {file} file, {size} KiB", _EXT4, _FSYNC, "B", value,
              Alone(f"log_{file}_{size}k"))
    for file, size, value in (
        ("recycled", 1, 4168.2),
        ("recycled", 4, 4179.5),
        ("recycled", 16, 16471.4),
        ("preallocated", 1, 5253.6),
        ("growing", 1, 8192.0),
        ("growing", 16, 20480.0),
    )
)  # fmt: skip

_FIO: Final = "fio 3.33, preallocated file; the profile is made of these runs"
_DISK: Final = tuple(
    Anchor(
        name=f"mean append + sync, {what}",
        kind="measured",
        conditions="jobs that wait for each sync",
        source=_FIO,
        unit="us",
        theirs=Figure.exactly(value),
        band=Band(share=0.05),
        origin=Alone(name, scale=1e-3),
        standing="fitted",
    )
    for what, value, name in (
        ("4 KiB, 1 job", 105.2, "disk_1"),
        ("4 KiB, 2 jobs", 167.0, "disk_2"),
        ("4 KiB, 4 jobs", 213.0, "disk_4"),
    )
)
_BESIDE: Final = _measured(
    "mean append + sync, 16 KiB, 3 jobs", "size and jobs combined; the profile has each alone",
    "fio 3.33, preallocated file", "us", 221.7, Alone("disk_16k_3", scale=1e-3),
)  # fmt: skip

MEASURED: Final = (*_etcd(), *_WAL, *_DEVICE, *_DISK, _BESIDE)
