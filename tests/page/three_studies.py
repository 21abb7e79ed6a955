"""Runs three shipped scenarios, cut short, through the real command."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from analysis.cli.app import main
from analysis.cli.failures import ExitStatus

ROOT: Final = Path(__file__).resolve().parents[2]
STUDIES: Final = {
    "rfc77": (
        "run.warmup=100ms", "run.measure=300ms", "run.replications=2", "workload.warehouses=50",
        "workload.threads=10",
    ),
    "evict_leader": (
        "run.warmup=100ms", "run.measure=1500ms", "run.replications=1", "cluster.regions=9",
        "operations.rolling.at=300ms", "operations.rolling.down=200ms",
        "operations.rolling.pause=100ms",
    ),
    "capacity_gp3_vs_nvme": (
        "run.warmup=100ms", "run.measure=150ms", "run.replications=2", "workload.warehouses=50",
        "capacity.tolerance=40%", "capacity.between=[300/s, 2000/s]",
        "tikv.raftstore.apply-pool-size=1",
        "sweep.grid={hardware.profile: [gp3_max]}",
    ),
}  # fmt: skip
"""By name, what is set: so short a run holds none of its expectations, but draws everything."""


def run_all(folder: Path) -> None:
    """Runs the studies one after another, each into a folder below ``folder``."""
    for name, settings in STUDIES.items():
        scenario = ROOT / "scenarios" / f"{name}.yaml"
        words = [str(scenario), "--out", str(folder / name)]
        for setting in settings:
            words += ["--set", setting]
        status = main(["run", *words])
        assert status in (ExitStatus.FINE, ExitStatus.CLAIM_FAILED), (name, status)
