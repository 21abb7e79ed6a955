"""RFC 77's two numbers, each with the conditions under which it can be expected.

The RFC names neither hardware nor load, so each is a statement about a setting: the share of locks
in what is written follows from record sizes, group sizes and rewriting; the latency from how busy
store pollers are.
"""

from __future__ import annotations

from typing import Final

from analysis.validation.anchor import Anchor, Band, Figure, InStudy
from sim.scenario import MetricKey

_RFC: Final = "tikv/rfcs, text/0077-in-memory-pessimistic-locks.md (Motivation)"


def _claim(name: str, conditions: str, theirs: float, band: float, origin: InStudy) -> Anchor:
    return Anchor(
        name=name,
        kind="claim",
        conditions=conditions,
        source=_RFC,
        unit="%",
        theirs=Figure.exactly(theirs),
        band=Band(amount=band),
        origin=origin,
    )


def _change(study: str, metric: str, point: dict[str, object]) -> InStudy:
    return InStudy(
        study, "in_memory", MetricKey.parse(metric), against="pipelined", point=point, scale=100.0,
        change=True,
    )  # fmt: skip


_GP3: Final = "gp3 volume, sync IO, raftdb, flush only"
_NVME: Final = "local NVMe, sync IO, raftdb, write amplification 3"

CLAIMED: Final = (
    _claim("lock latency", f"{_GP3}, 25 threads", -50.0, 5.0,
           _change("claims_gp3", "lock_latency_ms", {"workload.threads": 25})),
    _claim("disk bytes per transaction", f"{_GP3}, 25 threads", -20.0, 3.0,
           _change("claims_gp3", "disk_write_bytes_per_txn", {"workload.threads": 25})),
    _claim("disk bytes per transaction", f"{_GP3}, 50 threads", -20.0, 3.0,
           _change("claims_gp3", "disk_write_bytes_per_txn", {"workload.threads": 50})),
    _claim("lock latency", f"{_NVME}, 50 threads", -50.0, 5.0,
           _change("tpcc_i3_4xlarge", "lock_latency_ms", {"workload.threads": 50})),
    _claim("disk bytes per transaction", f"{_NVME}, 50 threads", -20.0, 3.0,
           _change("tpcc_i3_4xlarge", "disk_write_bytes_per_txn", {"workload.threads": 50})),
)  # fmt: skip
