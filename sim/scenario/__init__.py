"""Scenario files: what a user may say, and the resolved values a simulation is built from.

::

    file ─ reader ─► tree ─ inheritance, overrides ─► one tree per variant and point
                                                       │ profiles, validation (schema), resolve
                                                       ▼
                                       Study(scenarios, points, claims, hashes)

Whatever is wrong is a ``Problem`` with its place in the file; they are raised together.
"""

from sim.scenario.json_schema import json_schema
from sim.scenario.load import load_study
from sim.scenario.problems import Mark, Problem, ScenarioError
from sim.scenario.resolved import Expectation, Scenario
from sim.scenario.study import MODEL_VERSION, Study

__all__ = [
    "MODEL_VERSION",
    "Expectation",
    "Mark",
    "Problem",
    "Scenario",
    "ScenarioError",
    "Study",
    "json_schema",
    "load_study",
]
