"""Study folders made by hand: small, and some by somebody who means harm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from analysis.report.summary import write_summary
from analysis.study.load import load_study
from analysis.study.plan import Plan
from analysis.study.study_outcome import ANSWER
from analysis.study.units import write_plan
from tests.page import hostile


def study(results: Path, name: str, **said: Any) -> Path:
    """Makes the folder of a study that only has an answer."""
    folder = results / name
    (folder / "units").mkdir(parents=True)
    answer = {
        "study": name, "question": f"What of {name}?", "answer": [f"Nothing of {name}."],
        "outcome": "passed",
    }  # fmt: skip
    (folder / ANSWER).write_text(json.dumps(answer | said), encoding="utf-8")
    (folder / "scenario.yaml").write_text("about: What?\n", encoding="utf-8")
    (folder / "report.html").write_text(f"<!DOCTYPE html><p>report of {name}", encoding="utf-8")
    return folder


def summed_up(results: Path, name: str) -> Path:
    """Makes the folder of a study with a scenario that can be loaded, a plan and a summary."""
    folder = study(results, name)
    made = load_study(hostile.scenario(folder, "What of locks?"))
    (folder / "scenario.yaml").write_text(made.resolved_yaml(), encoding="utf-8")
    plan = Plan(made)
    plan.add((point, variant, 0) for point in made.points for variant in made.variants)
    write_plan(folder, plan)
    write_summary(folder, hostile.summary())
    said = {"study": name, "seed": 1, "finished": True, "digests": {}, "units": {"done": 4}}
    (folder / "manifest.json").write_text(json.dumps(said), encoding="utf-8")
    return folder
