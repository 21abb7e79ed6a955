"""A study: the scenarios of all variants at all points, their hashes, and the whole as a file.

Law: a unit's hash covers everything that influences its facts and nothing else. Neither the words
of a file nor the number of replications are in it, so a study can be reworded and extended without
running anything again. Writing a study out and reading it back gives the same hashes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any, Final

import yaml

from sim.scenario.document import Document, differences, document_of
from sim.scenario.resolved import Expectation, Scenario
from sim.scenario.scalars import scalar_value

MODEL_VERSION: Final = "1"
"""Raised whenever the same scenario gives other facts, so that old units are not taken for new."""

Point = Mapping[str, Any]

_SELECTORS: Final = frozenset({
    "hardware", "hardware.disk", "hardware.disk.raft", "hardware.disk.kv", "hardware.network",
    "hardware.profile", "hardware.disk.raft.profile", "hardware.disk.kv.profile",
    "hardware.network.profile", "hardware.store_cores", "hardware.store_memory", "tikv",
    "tikv.behaviour", "tikv.pessimistic-txn.pipelined", "workload", "workload.kind",
})  # fmt: skip
"""Keys that decide what other keys default to."""


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
    expect: tuple[Expectation, ...]
    scenarios: dict[tuple[str, str], Scenario]
    """By ``point_key`` and variant."""
    said: Document = field(compare=False)
    """What the file says, those it extends and the command line included."""

    def scenario(self, point: Point, variant: str) -> Scenario:
        """Returns the scenario of one variant at one point.

        Raises:
            KeyError: if the study has no such point or variant.
        """
        return self.scenarios[point_key(point), variant]

    def config_hash(self, point: Point, variant: str, replication: int) -> str:
        """Returns the hash of everything that influences a unit's facts, as 64 hex digits."""
        scenario = asdict(self.scenario(point, variant))
        del scenario["about"], scenario["run"]["replications"]
        content = {"model": MODEL_VERSION, "replication": replication, "scenario": scenario}
        return sha256(_canonical(content).encode()).hexdigest()

    def resolved_yaml(self) -> str:
        """Returns the whole study as a file, complete, that gives the same units again."""
        document = {key: value for key, value in self._document().items() if value != ""}
        text = yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=96, allow_unicode=True)
        return f"# The study {self.name} as it was run, made by Pessim.\n{text}"

    def _document(self) -> Document:
        axes = list(self.points[0])
        if not _SELECTORS.isdisjoint(axes):
            # Defaults of other keys follow a swept one, so they must stay open.
            return {"about": self.about} | self.said
        documents = {name: document_of(variant) for name, variant in self.variants.items()}
        base = next(iter(documents.values()))
        compare = {name: differences(base, other) for name, other in documents.items()}
        document = base | {"compare": compare}
        if axes:
            grid = {key: _in_order(point[key] for point in self.points) for key in axes}
            document["sweep"] = {"grid": grid}
        if self.expect:
            document["expect"] = [_claim(claim) for claim in self.expect]
        return document


def point_key(point: Point) -> str:
    """Returns text that is equal for equal points."""
    return _canonical(dict(point))


def _canonical(content: Any) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _in_order(values: Any) -> list[Any]:
    """Returns the different values in their first order."""
    by_text: dict[str, Any] = {}
    for value in values:
        by_text.setdefault(_canonical(value), value)
    return list(by_text.values())


def _claim(claim: Expectation) -> Document:
    document = {
        "metric": claim.metric,
        "stat": claim.stat,
        "class": claim.class_,
        "variant": claim.variant,
        "against": claim.against,
        "below": claim.below,
        "above": claim.above,
        "at": dict(claim.at_point) if claim.at_point else None,
    }
    return {key: value for key, value in document.items() if value is not None}


class _Dumper(yaml.SafeDumper):
    """Writes text so that our reader takes it for text again, and nothing as an alias."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's signature
        """Returns True: what a study says twice is written twice."""
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None if isinstance(scalar_value(text), str) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _list(dumper: yaml.SafeDumper, items: Sequence[Any]) -> yaml.SequenceNode:
    flow = not any(isinstance(item, dict) for item in items)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=flow)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(list, _list)
