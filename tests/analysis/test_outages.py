"""Whatever stops or halves a cluster is not called fine, and what does neither is."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from analysis.pipeline.unit_judgement import JudgedUnit, judged_unit
from analysis.statistics.saturation import Verdict
from analysis.study.load import load_study
from analysis.study.parquet_sink import ParquetSink
from sim.simulation import run_unit

pytestmark = pytest.mark.slow

CASES: Final = yaml.safe_load(Path(__file__).with_name("outages.yaml").read_text(encoding="utf-8"))
NOT_FINE: Final = {Verdict.OUTAGE, Verdict.DEGRADED}
LOADS: Final[dict[str, dict[str, object]]] = {"open": {"rate": "60/s"}, "closed": {"threads": 3}}
QUICK: Final = {
    "raftstore": {
        "raft-base-tick-interval": "50ms",
        "raft-store-max-leader-lease": "400ms",
    }
}


def judged(case: dict[str, Any], folder: Path) -> JudgedUnit:
    """Runs one unit of a case and judges it."""
    file = folder / "case.yaml"
    document: dict[str, Any] = {
        "about": "What does it do to a small cluster?",
        "run": {
            "seed": 3,
            "warmup": "500ms",
            "measure": case.get("measure", "6500ms"),
            "replications": 1,
        },
        "cluster": {"stores": case.get("stores", 3), "regions": 9},
        "workload": {
            "kind": "custom",
            **LOADS.get(case["load"], {"rate": case["load"]}),
            "tables": {"acct": {"rows": 100_000}},
            "transactions": {
                "move": {
                    "statements": [{"lock": "acct", "rows": 2}, {"update": "acct", "pause": "20ms"}]
                }
            },
        },
        "tikv": QUICK if case.get("quick") else {},
        "operations": case["do"],
    }
    file.write_text(yaml.safe_dump(document), encoding="utf-8")
    study = load_study(file)
    scenario = study.scenario(study.points[0], next(iter(study.variants)))
    with ParquetSink(folder) as sink:
        result = run_unit(scenario, 0, sink)
    return judged_unit(folder, scenario, result.simulated_ns)


@pytest.mark.parametrize("name", CASES["outages"])
def test_what_stops_or_halves_a_cluster_is_not_fine(name: str, tmp_path: Path) -> None:
    found = judged(CASES["outages"][name], tmp_path)
    assert found.verdict in NOT_FINE, found
    assert found.reason


@pytest.mark.parametrize("name", CASES["harmless"])
def test_what_does_neither_raises_no_alarm(name: str, tmp_path: Path) -> None:
    found = judged(CASES["harmless"][name], tmp_path)
    assert found.verdict not in NOT_FINE, found
