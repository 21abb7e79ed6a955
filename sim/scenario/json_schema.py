"""The JSON Schema of scenario files, for editors: completion, and most mistakes while typing.

It is laxer than the reader in two places: keys that profiles supply are not required, and what
depends on two keys at once is not checked.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field
from pydantic.json_schema import models_json_schema

from sim.scenario.fields import Section, Text
from sim.scenario.profiles import SHARED, profiles
from sim.scenario.schema.hardware import HardwareSection
from sim.scenario.schema.operations import OperationEntry
from sim.scenario.schema.run import ClusterSection, RunSection
from sim.scenario.schema.study import (
    CapacitySection,
    ExpectSection,
    SensitivitySection,
    SweepSection,
)
from sim.scenario.schema.tikv import TikvSection
from sim.scenario.schema.workload import WorkloadSection

_Schema = dict[str, Any]
_BY_PROFILE = ("DiskSection", "DisksSection", "NetworkSection", "HardwareSection")


class ScenarioFile(Section):
    """A scenario of Pessim."""

    about: Text | None = Field(None, description="The one question it answers.")
    extends: Text | None = Field(
        None, description="Another scenario file, relative to this one, that this one builds on."
    )
    run: RunSection | None = Field(None, description="How long, how often, with which luck.")
    cluster: ClusterSection | None = Field(None, description="How many of everything.")
    hardware: HardwareSection | None = Field(None, description="What the nodes are made of.")
    tikv: TikvSection | None = Field(None, description="TiKV's configuration.")
    workload: WorkloadSection | None = Field(None, description="What clients ask for.")
    operations: list[OperationEntry] | dict[str, OperationEntry | None] | None = Field(
        None, description="What happens to the cluster, as a list or by name."
    )
    compare: dict[str, dict[str, Any] | None] | None = Field(
        None, description="Variants: dotted keys and their values; the first is the baseline."
    )
    sweep: SweepSection | None = Field(None, description="Points at which all variants are run.")
    capacity: CapacitySection | None = Field(
        None, description="The greatest load that meets a service level objective."
    )
    sensitivity: SensitivitySection | None = Field(
        None, description="Which keys move the outcomes most."
    )
    expect: list[ExpectSection] | None = Field(None, description="Claims to check.")


def json_schema() -> _Schema:
    """Returns the JSON Schema (draft 2020-12) of a scenario file."""
    models: list[tuple[type[BaseModel], Any]] = [(ScenarioFile, "validation")]
    _, schema = models_json_schema(models, by_alias=True, ref_template="#/$defs/{model}")
    definitions: _Schema = schema["$defs"]
    for name in _BY_PROFILE:
        definitions[name].pop("required", None)
    _name_disks(definitions["DisksSection"]["properties"])
    network = definitions["HardwareSection"]["properties"]["network"]
    network |= _named(_only_ref(network), list(profiles("networks")))
    definitions["HardwareSection"]["properties"]["profile"] |= {"enum": list(profiles("machines"))}
    definitions["Shape"] = {"anyOf": [{"type": "string"}, definitions["Shape"]]}
    definitions["TikvSection"]["patternProperties"] = {"^[a-z-]+$": {"type": "object"}}
    top: _Schema = definitions.pop("ScenarioFile")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **top, "$defs": definitions}


def _name_disks(properties: _Schema) -> None:
    names = list(profiles("disks"))
    properties["raft"] |= _named(_only_ref(properties["raft"]), names)
    figures = {"$ref": "#/$defs/DiskSection"}
    properties["kv"] |= _named(figures, [SHARED, *names])


def _only_ref(schema: _Schema) -> _Schema:
    return {"$ref": schema.pop("$ref", "#/$defs/NetworkSection")}


def _named(figures: _Schema, names: list[str]) -> _Schema:
    return {"anyOf": [{"enum": names}, figures]}
