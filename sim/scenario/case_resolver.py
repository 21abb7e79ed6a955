"""Any case of a study, resolved when somebody asks for it.

Law: a case is the study's tree with a variant's changes and a point's on top; the same case gives
the same scenario, whoever asks and in which process. Points need not be points of the study: a
search for capacity asks for loads, a sensitivity study for values that no file says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from sim.scenario.overrides import Overrides, applied, check_key
from sim.scenario.problems import Mark, Problem, ScenarioError
from sim.scenario.resolve import resolved
from sim.scenario.resolved import Scenario
from sim.scenario.tree import Node, node_of

Point = Mapping[str, Any]

_MOST_KEPT: Final = 1_000
"""Scenarios kept to be asked for again; a scenario has some kilobytes."""


class CaseResolver:
    """Resolves the cases of one study; forgets what it resolved when it travels."""

    def __init__(self, about: str, tree: Node, variants: Mapping[str, Overrides]) -> None:
        """Takes the tree without sections about cases, and each variant's changes."""
        self._about = about
        self._tree = tree
        self._variants = {name: (changes, applied(tree, changes)) for name, changes in
                          variants.items()}  # fmt: skip
        self._scenarios: dict[tuple[str, str], Scenario] = {}
        self._digests: dict[tuple[str, str], str] = {}

    def __reduce__(self) -> tuple[type[CaseResolver], tuple[str, Node, dict[str, Overrides]]]:
        """Travels without what can be made again."""
        variants = {name: changes for name, (changes, _) in self._variants.items()}
        return type(self), (self._about, self._tree, variants)

    @property
    def variants(self) -> list[str]:
        """Returns the names of the variants; the first is the baseline."""
        return list(self._variants)

    def resolve(self, point: Overrides, variant: str, problems: list[Problem]) -> Scenario | None:
        """Returns the scenario of one variant at one point, or None after adding its problems."""
        before = len(problems)
        scenario = resolved(applied(self._variants[variant][1], point), self._about, problems)
        if scenario is not None and len(problems) == before:
            self._keep(point_key({key: node.plain() for key, node in point.items()}), variant,
                       scenario)  # fmt: skip
        return scenario

    def _keep(self, key: str, variant: str, scenario: Scenario) -> None:
        while len(self._scenarios) >= _MOST_KEPT:
            del self._scenarios[next(iter(self._scenarios))]
        self._scenarios[key, variant] = scenario

    def scenario(self, point: Point, variant: str) -> Scenario:
        """Returns the scenario of one variant at any point.

        Raises:
            KeyError: if there is no such variant.
            ScenarioError: if the point makes no valid scenario.
        """
        known = self._scenarios.get((point_key(point), variant))
        if known is not None:
            return known
        mark = Mark(f"point {dict(point)}")
        overrides = {key: node_of(value, mark) for key, value in point.items()}
        problems: list[Problem] = []
        for key, node in overrides.items():
            check_key(key, node, "a point", problems)
        scenario = None if problems else self.resolve(overrides, variant, problems)
        if scenario is None or problems:
            raise ScenarioError(problems)
        return scenario

    def digest(self, point: Point, variant: str) -> str:
        """Returns the hash of what one variant at one point is, as 64 hex digits.

        Raises:
            KeyError: as ``scenario``.
            ScenarioError: as ``scenario``.
        """
        case = (point_key(point), variant)
        digest = self._digests.get(case)
        if digest is None:
            scenario = self.scenario(point, variant)
            content = _fields_of(scenario) | {"run": _fields_of(scenario.run)}
            del content["about"], content["run"]["replications"]
            digest = self._digests[case] = sha256(canonical(content).encode()).hexdigest()
        return digest


def point_key(point: Point) -> str:
    """Returns text that is equal for equal points."""
    return canonical(dict(point))


def canonical(content: Any) -> str:
    """Returns text that is equal for equal content, dataclasses included."""
    return json.dumps(
        content, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_fields_of
    )


def _fields_of(value: Any) -> dict[str, Any]:
    """Returns a dataclass' fields by name."""
    return {name: getattr(value, name) for name in value.__dataclass_fields__}
