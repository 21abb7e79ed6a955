"""The JSON Schema of scenario files, for editors: completion, and most mistakes while typing.

It is laxer than the reader in two places: keys that profiles supply are not required, and what
depends on two keys at once is not checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.study.run import RunSection
from analysis.study.sections import CapacitySection, Expectation, Sensitivity, SweepSection
from sim.scenario.fields import TEXT, Form, Key, ListOf, Schema
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
class _ListOrMap(Form):
    """Entries one after the other, or by name."""

    entry: Form

    def described(self, definitions: dict[str, Schema]) -> Schema:
        """Returns both."""
        entry = self.entry.described(definitions)
        named = {"anyOf": [entry, {"type": "null"}]}
        return {"anyOf": [
            {"type": "array", "items": entry},
            {"type": "object", "additionalProperties": named},
        ]}  # fmt: skip


@dataclass(frozen=True)
class _OneOrMore(Form):
    """A value, or a list of them."""

    entry: Form

    def described(self, definitions: dict[str, Schema]) -> Schema:
        """Returns both."""
        entry = self.entry.described(definitions)
        return {"anyOf": [entry, {"type": "array", "items": entry}]}


@dataclass(frozen=True)
class _Variants(Form):
    """Changes by the name of a variant."""

    def described(self, _: dict[str, Schema]) -> Schema:
        """Returns mappings, or nothing for a variant without changes."""
        changes = {"type": "object", "additionalProperties": True}
        named = {"anyOf": [changes, {"type": "null"}]}
        return {"type": "object", "additionalProperties": named}


TOP: dict[str, tuple[Form, str]] = {
    "about": (TEXT, "The question that the scenario answers."),
    "extends": (
        _OneOrMore(TEXT),
        "Scenario files that this one extends, each overriding those before it: relative to "
        "this file, absolute, or pessim:NAME for a shipped one.",
    ),
    "run": (SectionOf(RunSection), "Duration, replications and seed."),
    "cluster": (SectionOf(Topology), "Numbers of nodes, replicas and regions."),
    "hardware": (SectionOf(Hardware), "Disks, network and CPU of the nodes."),
    "tikv": (SectionOf(Tikv), "TiKV's configuration."),
    "workload": (_Chosen("kind", SECTIONS), "Requests of the clients."),
    "operations": (
        _ListOrMap(_Chosen("do", OPERATIONS)),
        "Changes to the cluster, as a list or by name.",
    ),
    "compare": (_Variants(), "Variants: dotted keys and their values; the first is the baseline."),
    "sweep": (SectionOf(SweepSection), "Points at which all variants are run."),
    "capacity": (
        SectionOf(CapacitySection),
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
