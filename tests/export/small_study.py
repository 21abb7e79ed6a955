"""The study that exports are tried on."""

from __future__ import annotations

from pathlib import Path

from analysis.study.finished_study import FinishedStudy
from analysis.study.load import load_study

SCENARIO = """
about: Does an export say what the facts say?
run: {seed: 3, warmup: 200ms, measure: 600ms, replications: 2, window: 50ms}
hardware: {profile: i3.4xlarge}
workload: {kind: tpcc, warehouses: 20, threads: 4}
compare:
  pipelined: {tikv.pessimistic-txn.in-memory: false}
  in_memory: {tikv.pessimistic-txn.in-memory: true}
"""


def read_finished(folder: Path) -> FinishedStudy:
    """Returns a study as its folder has it."""
    study = load_study(folder / "scenario.yaml")
    return FinishedStudy.in_folder(folder, study, "small")
