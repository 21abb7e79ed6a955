"""The study that exports are tried on."""

from __future__ import annotations

from pathlib import Path

from analysis.cli.export_command import FolderStudy
from analysis.study.ledger import read_ledger
from analysis.study.load import load_study
from analysis.study.plan import Plan
from analysis.study.plan_file import read_plan

SCENARIO = """
about: Does an export say what the facts say?
run: {seed: 3, warmup: 200ms, measure: 600ms, replications: 2, window: 50ms}
hardware: {profile: i3.4xlarge}
workload: {kind: tpcc, warehouses: 20, threads: 8}
compare:
  pipelined: {tikv.pessimistic-txn.in-memory: false}
  in_memory: {tikv.pessimistic-txn.in-memory: true}
"""


def read_finished(folder: Path) -> FolderStudy:
    """Returns a study as its folder has it."""
    study = load_study(folder / "scenario.yaml")
    known = read_plan(folder)
    plan = Plan.of(study, known.points, known.units)
    return FolderStudy(study, "small", plan, read_ledger(folder / "units", plan.units).done)
