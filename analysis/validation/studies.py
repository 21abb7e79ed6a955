"""The studies that anchors are looked up in, and how they are shortened for a glance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from analysis.program import SCENARIOS
from analysis.validation.anchor import Anchor, InStudy, Quotient


@dataclass(frozen=True, slots=True)
class AnchorStudy:
    """A scenario file, and what ``--quick`` changes in it."""

    file: Path
    quick: tuple[str, ...]
    """Overrides, as ``--set`` takes them."""


_FEW: Final = ("run.replications=2", "run.warmup=500ms", "run.measure=1s")

STUDIES: Final = {
    "tpcc_i3_4xlarge": AnchorStudy(
        SCENARIOS / "tpcc_i3_4xlarge.yaml", (*_FEW, "sweep.grid.workload.threads=[50]")
    ),
    "claims_gp3": AnchorStudy(SCENARIOS / "validation/claims_gp3.yaml", _FEW),
    "pipelined_over_sync": AnchorStudy(SCENARIOS / "validation/pipelined_over_sync.yaml", _FEW),
    "raft_engine": AnchorStudy(SCENARIOS / "validation/raft_engine.yaml", _FEW),
    "sysbench_point_select": AnchorStudy(
        SCENARIOS / "validation/sysbench_point_select.yaml", ("run.replications=2",)
    ),
    "sysbench_update_non_index": AnchorStudy(
        SCENARIOS / "validation/sysbench_update_non_index.yaml", ("run.replications=2",)
    ),
    "sysbench_idle": AnchorStudy(SCENARIOS / "validation/sysbench_idle.yaml", ()),
    "tpcc_idle": AnchorStudy(SCENARIOS / "validation/tpcc_idle.yaml", ()),
    "etcd_loopback": AnchorStudy(
        SCENARIOS / "validation/etcd_loopback.yaml",
        ("run.replications=2", "run.measure=2s", "sweep.grid.workload.threads=[4]"),
    ),
    "etcd_1ms": AnchorStudy(SCENARIOS / "validation/etcd_1ms.yaml", _FEW),
    "rocksdb_locks": AnchorStudy(SCENARIOS / "validation/rocksdb_locks.yaml", _FEW),
    "leader_transfer": AnchorStudy(SCENARIOS / "validation/leader_transfer.yaml", _FEW),
    "quiet_transfer": AnchorStudy(SCENARIOS / "validation/quiet_transfer.yaml", ()),
    "transfer_fails": AnchorStudy(SCENARIOS / "transfer_fails.yaml", ()),
}


def study_of(anchor: Anchor) -> str | None:
    """Returns the name of the study that an anchor is looked up in; None for theory."""
    origin = anchor.origin
    if isinstance(origin, Quotient):
        return origin.over.study
    return origin.study if isinstance(origin, InStudy) else None


def studies_of(anchors: Sequence[Anchor]) -> list[str]:
    """Returns the studies that some anchors need, in the order of ``STUDIES``."""
    needed = {study_of(anchor) for anchor in anchors}
    return [name for name in STUDIES if name in needed]
