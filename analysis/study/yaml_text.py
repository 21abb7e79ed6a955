"""A document as YAML that our reader takes for the same document again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from sim.scenario.reader import scalar_value
from sim.scenario.section import Document


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
