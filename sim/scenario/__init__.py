"""Scenario files: what a user may say, and the resolved values a simulation is built from.

::

    file ─ reader ─► tree ─ inheritance, overrides ─► one tree per variant and point
                                                       │ profiles, sections (schema), resolve
                                                       ▼
                          Study(variants, points, claims, questions; any scenario, hashes)

Whatever is wrong is a ``Problem`` with its place in the file; they are raised together.
"""

from sim.scenario.json_schema import json_schema
from sim.scenario.load import load_study
from sim.scenario.metrics import MetricKey
from sim.scenario.problems import Mark, Problem, ScenarioError
from sim.scenario.resolved import Scenario
from sim.scenario.schema.study import (
    Capacity,
    Expectation,
    NodePrices,
    Objective,
    Precision,
    Range,
    Sensitivity,
)
from sim.scenario.study import Study

__all__ = [
    "Capacity",
    "Expectation",
    "Mark",
    "MetricKey",
    "NodePrices",
    "Objective",
    "Precision",
    "Problem",
    "Range",
    "Scenario",
    "ScenarioError",
    "Sensitivity",
    "Study",
    "json_schema",
    "load_study",
]
