"""A study: the scenarios of all variants at all points, their hashes, and the whole as a file.

Law: a unit's hash covers everything that influences its facts and nothing else. Neither the words
of a file nor the number of replications are in it, so a study can be reworded and extended without
running anything again. Writing a study out and reading it back gives the same hashes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from hashlib import sha256
from typing import Any, Final

from analysis.study.documents import differences, document_of, yaml_text
from analysis.study.expectation import Expectation
from analysis.study.overrides import Overrides, applied, may_change, overlap, plain_point
from analysis.study.run import FEW_REPLICATIONS, FIRST_ROUND, Precision, RunSection
from analysis.study.sections import Capacity, Sensitivity
from analysis.study.units import Point
from sim.scenario.problems import Mark, Problem, ScenarioError
from sim.scenario.resolve import resolved
from sim.scenario.resolved import Scenario
from sim.scenario.section import Document
from sim.scenario.tree import Node, Place, node_of

_SELECTORS: Final = frozenset({
    "hardware", "hardware.disk", "hardware.disk.raft", "hardware.disk.kv", "hardware.network",
    "hardware.profile", "hardware.disk.raft.profile", "hardware.disk.kv.profile",
    "hardware.network.profile", "hardware.store_cores", "hardware.store_memory", "tikv",
    "tikv.behaviour", "tikv.pessimistic-txn.pipelined", "workload", "workload.kind",
})  # fmt: skip
"""Keys that decide what other keys default to."""

_DISTRIBUTIONS: Final = frozenset({
    "append", "fetch", "crowding", "fetch_crowding", "same_zone", "cross_zone", "think_time",
})  # fmt: skip
"""Keys below them replace a profile's whole figure, and only one part of a written one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """What ``load_study`` returns."""

    name: str
    """The file's name without its ending."""
    about: str
    variants: dict[str, Scenario]
    """By name, at the first point; the first is the baseline."""
    points: tuple[dict[str, Any], ...]
    """Values of the swept keys, as the file writes them; one empty point without a sweep."""
    skipped: int
    """Points that constraints left out."""
    contours: Mapping[str, float]
    """Ratios at which maps have a contour, by figure."""
    expect: tuple[Expectation, ...]
    run: RunSection
    precision: Precision | None
    capacity: Capacity | None
    sensitivity: Sensitivity | None
    digest: str
    """Hash of all cases, 64 hex digits."""
    resolver: CaseResolver = field(compare=False, repr=False)
    said: Document = field(compare=False, repr=False)
    """What the file says, those it extends and the command line included."""

    @property
    def replications(self) -> int:
        """How often each variant is run at each point; with ``precision`` in the first round."""
        first = FEW_REPLICATIONS if self.precision is None else FIRST_ROUND
        of_batches = max(2, -(-first // self.run.batches))
        return self.run.replications or min(of_batches, self.run.most_replications)

    def scenario(self, point: Point, variant: str) -> Scenario:
        """Returns the scenario of one variant at one point, which need not be one of ``points``.

        Raises:
            KeyError: if the study has no such variant.
            ScenarioError: if the point makes no valid scenario.
        """
        return self.resolver.scenario(point, variant)

    def config_hash(self, point: Point, variant: str, replication: int) -> str:
        """Returns the hash of everything that influences a unit's facts, as 64 hex digits.

        Raises:
            KeyError: as ``scenario``.
            ScenarioError: as ``scenario``.
        """
        content = {"replication": replication, "scenario": self.resolver.digest(point, variant)}
        return sha256(canonical(content).encode()).hexdigest()

    def document(self, point: Point, variant: str) -> Document:
        """Returns one case with all its keys, as a file would say them.

        Raises:
            KeyError: as ``scenario``.
            ScenarioError: as ``scenario``.
        """
        return document_of(self.scenario(point, variant)) | {"run": self.run.document()}

    def resolved_yaml(self) -> str:
        """Returns the whole study as a file, complete, that gives the same units again."""
        document = {key: value for key, value in self._document().items() if value != ""}
        return f"# The study {self.name} as it was run, made by Pessim.\n{yaml_text(document)}"

    def case_yaml(self, point: Point, variant: str, compare: Mapping[str, Document]) -> str:
        """Returns a file that says of one case what this study's own file says, and no more.

        Args:
            point: as for ``scenario``; what it sets to None is left out.
            variant: likewise.
            compare: variants of the new file, and the keys that each changes.
        """
        said = self.resolver.said(point, variant)
        workload = {key: value for key, value in said["workload"].items() if value is not None}
        run = {"run": self.said["run"]} if self.said.get("run") else {}
        about = {"about": self.about} if self.about else {}
        own = about | run | {key: value for key, value in said.items() if key != "run"}
        return yaml_text(own | {"workload": workload, "compare": dict(compare)})

    def _document(self) -> Document:
        factors = [factor.key for factor in self.sensitivity.factors] if self.sensitivity else []
        documents = {name: document_of(variant) for name, variant in self.variants.items()}
        base = next(iter(documents.values()))
        compare = {name: differences(base, other) for name, other in documents.items()}
        changed = [key for changes in compare.values() for key in changes]
        if any(map(_is_open, [*self.points[0], *factors])) or any(
            overlap(key, factor) for key in changed for factor in factors
        ):
            # Other keys follow one that changes from point to point, so they must stay open.
            return {"about": self.about} | self.said
        document = base | {"run": self.run.document(), "compare": compare}
        if "sweep" in self.said:
            document["sweep"] = self.said["sweep"]
        if self.capacity is not None:
            document["capacity"] = self.capacity.document()
        if self.sensitivity is not None:
            document["sensitivity"] = self.sensitivity.document()
        if self.expect:
            document["expect"] = [claim.document() for claim in self.expect]
        return document


def _is_open(key: str) -> bool:
    """Returns whether the meaning or the default of other keys follows this one."""
    return key in _SELECTORS or not _DISTRIBUTIONS.isdisjoint(key.split(".")[:-1])


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
        tree = applied(self._variants[variant][1], point)
        scenario = resolved(tree, self._about, problems)
        if scenario is not None and len(problems) == before:
            _check_regions(Place(tree, (), problems), scenario)
        if scenario is not None and len(problems) == before:
            while len(self._scenarios) >= _MOST_KEPT:
                del self._scenarios[next(iter(self._scenarios))]
            self._scenarios[point_key(plain_point(point)), variant] = scenario
        return scenario

    def scenario(self, point: Point, variant: str) -> Scenario:
        """Returns the scenario of one variant at any point.

        Raises:
            KeyError: if there is no such variant.
            ScenarioError: if the point makes no valid scenario.
        """
        known = self._scenarios.get((point_key(point), variant))
        if known is not None:
            return known
        overrides = _nodes(point)
        problems: list[Problem] = []
        for key, node in overrides.items():
            may_change(Place(node, ("a point", key), problems))
        scenario = None if problems else self.resolve(overrides, variant, problems)
        if scenario is None or problems:
            raise ScenarioError(problems)
        return scenario

    def said(self, point: Point, variant: str) -> Document:
        """Returns what a file says of one variant at any point, defaults and profiles left unsaid.

        Raises:
            KeyError: as ``scenario``.
        """
        plain: Document = applied(self._variants[variant][1], _nodes(point)).plain()
        return plain

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
            content = _fields_of(scenario)
            del content["about"]
            digest = self._digests[case] = sha256(canonical(content).encode()).hexdigest()
        return digest


def _check_regions(root: Place, scenario: Scenario) -> None:
    """Finds regions that no row is left for: only the tables say it, which no schema knows."""
    regions = scenario.cluster.regions
    if regions is None:
        return
    from sim.estimate import too_many_regions  # most studies leave regions to the tables

    most = too_many_regions(scenario)
    if most is not None:
        root["cluster"]["regions"].refuse(
            f"{regions} regions of equal size need a row each to start at, the tables are large "
            f"enough for {most}; write {most} or less"
        )


def _nodes(point: Point) -> Overrides:
    mark = Mark(f"point {dict(point)}")
    return {key: node_of(value, mark) for key, value in point.items()}


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
    return {each.name: getattr(value, each.name) for each in fields(value)}
