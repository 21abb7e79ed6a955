"""What a file says: of a scenario, of how two differ, and as YAML for our reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from sim.scenario.reader import scalar_value
from sim.scenario.resolved import Scenario
from sim.scenario.schema.etcd import EtcdSection
from sim.scenario.schema.workload import SECTIONS
from sim.scenario.section import Document


def document_of(scenario: Scenario) -> Document:
    """Returns the sections of a file that describes this scenario alone; it can be run again."""
    workload = SECTIONS[scenario.workload.kind]
    hardware = scenario.hardware.document()
    if workload is not EtcdSection:
        del hardware["shared"], hardware["etcd"]
    document: Document = {
        "about": scenario.about,
        "run": scenario.run.document(),
        "cluster": scenario.cluster.document(),
        "hardware": hardware,
        "tikv": scenario.tikv.document(),
        "workload": workload.document_of(scenario.workload),
    }
    if scenario.operations:
        document["operations"] = {
            each.name: {key: said for key, said in each.document().items() if key != "name"}
            for each in scenario.operations
        }
    return document


def differences(base: Mapping[str, Any], other: Mapping[str, Any], prefix: str = "") -> Document:
    """Returns the dotted overrides that turn one document into another; None: without that key."""
    overrides: Document = {}
    for key in [*base, *(key for key in other if key not in base)]:
        mine: Any = base.get(key)
        theirs: Any = other.get(key)
        both = isinstance(mine, dict) and isinstance(theirs, dict)
        # Workloads of two kinds have nothing in common; one replaces the other.
        if both and mine.get("kind") == theirs.get("kind"):
            overrides |= differences(mine, theirs, f"{prefix}{key}.")
        elif mine != theirs:
            overrides[f"{prefix}{key}"] = theirs
    return overrides


def yaml_text(document: Document) -> str:
    """Returns the file's content; keys keep their order."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=96, allow_unicode=True)


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
