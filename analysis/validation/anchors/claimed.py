"""RFC 77's two numbers, each with the conditions under which it can be expected.

The RFC names neither hardware nor load, so each is a statement about a setting: the share of locks
in what is written follows from record sizes, group sizes and rewriting; the latency from how busy
store pollers are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from analysis.metrics.catalogue import MetricKey
from analysis.validation.anchor import Anchor, Band, Figure, InStudy

_RFC: Final = "tikv/rfcs, text/0077-in-memory-pessimistic-locks.md (Motivation)"


def _claim(
    what: str, where: tuple[str, str], theirs: float, band: float, origin: InStudy
) -> Anchor:
    short, conditions = where
    return Anchor(
        name=f"{what}, {short}",
        kind="claim",
        conditions=conditions,
        source=_RFC,
        unit="%",
        theirs=Figure.exactly(theirs),
        band=Band(amount=band),
        origin=origin,
        quick=False,
    )


def _change(study: str, metric: str, point: dict[str, object]) -> InStudy:
    return InStudy(
        study, "in_memory", MetricKey.parse(metric), against="pipelined", point=point, scale=100.0,
        change=True,
    )  # fmt: skip


_GP3: Final = "gp3 volume, sync IO, raftdb, flush only"
_NVME: Final = "local NVMe, sync IO, raftdb, write amplification 3"


def _pair(study: str, short: str, conditions: str, threads: int) -> tuple[Anchor, Anchor]:
    """Returns both claims in one setting."""
    point: dict[str, object] = {"workload.threads": threads}
    where = (f"{short}, {threads} threads", f"{conditions}, {threads} threads")
    return (
        _claim("lock latency", where, -50.0, 5.0, _change(study, "lock_latency_ms", point)),
        _claim(
            "disk bytes per transaction", where, -20.0, 3.0,
            _change(study, "disk_write_bytes_per_txn", point),
        ),
    )  # fmt: skip


CLAIMED: Final = (
    # The number of threads was chosen with the claim in view.
    *(replace(each, standing="fitted") for each in _pair("claims_gp3", "gp3", _GP3, 25)),
    *_pair("claims_gp3", "gp3", _GP3, 50),
    *_pair("tpcc_i3_4xlarge", "NVMe", _NVME, 50),
)
