"""All keys that an override may name, such as ``workload.threads``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from analysis.study.json_schema import json_schema
from sim.scenario.problems import suggestion

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
