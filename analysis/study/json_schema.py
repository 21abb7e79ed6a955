"""The JSON Schema of scenario files, for editors: completion, and most mistakes while typing.

It is laxer than the reader in two places: keys that profiles supply are not required, and what
depends on two keys at once is not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from analysis.study.expectation import Expectation
from analysis.study.run import RunSection
from analysis.study.sections import Capacity, Sensitivity, SweepSection
from sim.scenario.fields import ANYTHING, TEXT, Form, Key, ListOf, MapOf, Schema
from sim.scenario.problems import suggestion
from sim.scenario.profiles import profiles
from sim.scenario.schema.hardware import SHARED, Hardware
from sim.scenario.schema.operations import OPERATIONS
from sim.scenario.schema.run import Topology
from sim.scenario.schema.tikv import Tikv
from sim.scenario.schema.workload import SECTIONS
from sim.scenario.section import Section, SectionOf, property_schema

_BY_PROFILE = ("DiskSection", "DisksSection", "NetworkSection", "Hardware")


@dataclass(frozen=True)
class _Chosen(Form):
    """One of several sections; a key of theirs says which."""

    by: str
    sections: Mapping[str, type[Section]]

    def described(self, definitions: dict[str, Schema]) -> Schema:
        """Returns references to all of them."""
        refs = {
            word: SectionOf(section).described(definitions)["$ref"]
            for word, section in self.sections.items()
        }
        return {
            "oneOf": [{"$ref": ref} for ref in dict.fromkeys(refs.values())],
            "discriminator": {"propertyName": self.by, "mapping": refs},
        }


@dataclass(frozen=True)
class _Arranged(Form):
    """Entries of a form, in one of several arrangements."""

    entry: Form
    arrangement: Callable[[Schema], Schema]

    def described(self, definitions: dict[str, Schema]) -> Schema:
        """Returns the arrangement."""
        return self.arrangement(self.entry.described(definitions))


def _one_or_more(entry: Schema) -> Schema:
    return {"anyOf": [entry, {"type": "array", "items": entry}]}


def _by_name(entry: Schema) -> Schema:
    """Returns a mapping in which a name may have nothing."""
    named = {"anyOf": [entry, {"type": "null"}]}
    return {"type": "object", "additionalProperties": named}


def _listed_or_by_name(entry: Schema) -> Schema:
    return {"anyOf": [{"type": "array", "items": entry}, _by_name(entry)]}


TOP: dict[str, tuple[Form, str]] = {
    "about": (TEXT, "The question that the scenario answers."),
    "extends": (
        _Arranged(TEXT, _one_or_more),
        "Scenario files that this one extends, each overriding those before it: relative to "
        "this file, absolute, or pessim:NAME for a shipped one.",
    ),
    "run": (SectionOf(RunSection), "Duration, replications and seed."),
    "cluster": (SectionOf(Topology), "Numbers of nodes, replicas and regions."),
    "hardware": (SectionOf(Hardware), "Disks, network and CPU of the nodes."),
    "tikv": (SectionOf(Tikv), "TiKV's configuration."),
    "workload": (_Chosen("kind", SECTIONS), "Requests of the clients."),
    "operations": (
        _Arranged(_Chosen("do", OPERATIONS), _listed_or_by_name),
        "Changes to the cluster, as a list or by name.",
    ),
    "compare": (
        _Arranged(MapOf(ANYTHING), _by_name),
        "Variants: dotted keys and their values; the first is the baseline.",
    ),
    "sweep": (SectionOf(SweepSection), "Points at which all variants are run."),
    "capacity": (
        SectionOf(Capacity),
        "The greatest load that meets a service level objective.",
    ),
    "sensitivity": (SectionOf(Sensitivity), "Keys that affect the outcomes most."),
    "expect": (ListOf(SectionOf(Expectation)), "Claims to check."),
}
"""Sections of a file: what they take, and what they are for."""


def json_schema() -> Schema:
    """Returns the JSON Schema (draft 2020-12) of a scenario file."""
    definitions: dict[str, Schema] = {}
    top = {
        name: property_schema(Key(form, meaning, None, name), definitions)
        for name, (form, meaning) in TOP.items()
    }
    for name in _BY_PROFILE:
        definitions[name].pop("required", None)
    _name_disks(definitions["DisksSection"]["properties"])
    network = definitions["Hardware"]["properties"]["network"]
    network |= _named(_only_ref(network), list(profiles("networks")))
    definitions["Hardware"]["properties"]["profile"] |= {"enum": list(profiles("machines"))}
    definitions["Tikv"]["patternProperties"] = {"^[a-z-]+$": {"type": "object"}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ScenarioFile",
        "description": "A scenario of Pessim.",
        "type": "object",
        "properties": top,
        "additionalProperties": False,
        "$defs": definitions,
    }


def _name_disks(properties: Schema) -> None:
    names = list(profiles("disks"))
    properties["raft"] |= _named(_only_ref(properties["raft"]), names)
    figures = {"$ref": "#/$defs/DiskSection"}
    properties["kv"] |= _named(figures, [SHARED, *names])


def _only_ref(schema: Schema) -> Schema:
    return {"$ref": schema.pop("$ref", "#/$defs/NetworkSection")}


def _named(figures: Schema, names: list[str]) -> Schema:
    return {"anyOf": [{"enum": names}, figures]}


_DEEPEST: Final = 6


@cache
def dotted_keys() -> tuple[tuple[str, Mapping[str, object]], ...]:
    """Returns each key that holds a value with its JSON Schema; one of several forms repeatedly."""
    schema = json_schema()
    return tuple(_keys(schema, schema.get("$defs", {}), "", 0))


def key_meant(word: str, sections: Sequence[str]) -> str:
    """Returns ``did you mean x?`` for a key without its section, or which sections there are."""
    keys = [key for key, _ in dotted_keys() if key.split(".")[0] in sections]
    whole = [key for key in keys if key.endswith(f".{word}")]
    return suggestion(word, whole) if whole else suggestion(word.partition(".")[0], sections)


def _keys(
    node: Mapping[str, object], known: object, prefix: str, depth: int
) -> Iterator[tuple[str, Mapping[str, object]]]:
    while "$ref" in node and isinstance(known, dict):
        node = known[str(node["$ref"]).rpartition("/")[2]]
    properties = node.get("properties")
    if isinstance(properties, dict) and depth < _DEEPEST:
        for name, child in properties.items():
            yield from _keys(child, known, f"{prefix}.{name}" if prefix else name, depth + 1)
    for word in ("anyOf", "oneOf", "allOf"):
        choices = node.get(word)
        for choice in choices if isinstance(choices, list) else ():
            yield from _keys(choice, known, prefix, depth)
    if prefix and not isinstance(properties, dict):
        yield prefix, node
