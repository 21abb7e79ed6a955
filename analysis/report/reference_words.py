"""Cells of the reference: what a JSON Schema says of a key, what profiles say of machines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from sim.scenario.profiles import profiles

_Schema = Mapping[str, Any]

_REF: Final = "#/$defs/"
_REGION: Final = "an id, `hottest`, `random`, `{table, row}` or `{key}`"
_MOST_WORDS: Final = 16
"""Of one key that are listed; releases are more."""


def kind_words(schema: _Schema, titles: Mapping[str, str]) -> str:
    """Returns which values a key may have: kind, range, words.

    Args:
        schema: of one property.
        titles: by definition, the words with a link that stand for a section.
    """
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(_REF)
        return titles.get(name, name)
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return _one_of(schema[word], titles)
    if "const" in schema:
        return _code(schema["const"])
    if "enum" in schema:
        words = [_code(value) for value in schema["enum"]]
        return ", ".join(words if len(words) <= _MOST_WORDS else [*words[:3], "…", words[-1]])
    return _typed(schema, titles)


def _one_of(forms: list[_Schema], titles: Mapping[str, str]) -> str:
    forms = [form for form in forms if form.get("type") != "null"]
    if any(form.get("type") == "boolean" for form in forms):
        return "`true` or `false`"
    if any("hottest" in form.get("enum", ()) for form in forms):
        return _REGION
    words = [kind_words(form, titles) for form in forms]
    if any("leader_of" in form.get("properties", ()) for form in forms):
        return f"an id, {words[1]} or `{{leader_of: REGION}}`"
    return " or ".join(dict.fromkeys(words))


def _typed(schema: _Schema, titles: Mapping[str, str]) -> str:
    match schema.get("type"):
        case "integer":
            return f"whole number, {_bounds(schema)}"
        case "number":
            return f"number, {_bounds(schema)}"
        case "array":
            return _array(schema, titles)
        case "object":
            return _mapping(schema, titles)
        case "string":
            return _text(schema)
        case _:
            return "any value"


def _bounds(schema: _Schema) -> str:
    low, high = schema["minimum"], schema.get("maximum")
    if high is None:
        return f"{low} or more"
    return f"{_number(low)} to {_number(high)}"


def _number(value: float) -> str:
    if abs(value) >= 10**7:
        return re.sub(r"e\+0*", "e", f"{value:.1g}")
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _array(schema: _Schema, titles: Mapping[str, str]) -> str:
    if "prefixItems" in schema:
        parts = [kind_words(part, titles).partition(",")[0] for part in schema["prefixItems"]]
        return f"[{', '.join(parts)}]"
    if schema.get("maxItems") == 2 and schema.get("minItems") == 2:
        return "[low, high]"
    return f"list of {kind_words(schema.get('items', {}), titles)}"


def _mapping(schema: _Schema, titles: Mapping[str, str]) -> str:
    patterns = schema.get("patternProperties", {})
    values = next(iter(patterns.values()), schema.get("additionalProperties"))
    of = kind_words(values, titles) if isinstance(values, Mapping) else "any value"
    name = "metric" if any("lock_latency_ms" in pattern for pattern in patterns) else "name"
    return f"mapping, {name} to {of}"


def _text(schema: _Schema) -> str:
    title, pattern = schema.get("title", ""), schema.get("pattern", "")
    if " to " in title:
        return f"{title} or `auto`" if pattern.startswith("^(auto|") else title
    if "lock_latency_ms" in pattern:
        return "metric"
    if pattern.endswith("(%)$"):
        return "percentage"
    if pattern.startswith("^v?"):
        return "version, such as `6.0.0`"
    return "name" if pattern else "text"


def _code(value: object) -> str:
    return f"`{value}`"


def default_words(name: str, section: _Schema) -> str:
    """Returns a key's default, from the definition that has the key."""
    schema = section["properties"][name]
    if name in section.get("required", ()):
        return "required"
    default = schema.get("default")
    if default is None or default == []:
        return "–"
    text = default if isinstance(default, str) else json.dumps(default)
    return _code(re.sub(r"^(\d+)\.0$", r"\1", text))


PROFILE_COLUMNS: Final = {
    "machines": (
        "machine", "raft log's disk", "data's disk", "network", "store: vCPU at speed, memory",
        "TiDB: vCPU", "assumed", "where from",
    ),
    "disks": (
        "disk", "writes", "reads", "append + fsync", "rare long ones", "token bucket",
        "assumed", "where from",
    ),
    "networks": (
        "network", "round trip in a zone", "between zones", "port", "assumed", "where from",
    ),
}  # fmt: skip
"""By file of ``scenarios/profiles``."""


def profile_rows(file: str) -> Iterator[tuple[str, ...]]:
    """Yields a row a profile of ``disks``, ``networks`` or ``machines``."""
    cells = {"machines": _machine, "disks": _disk, "networks": _network}[file]
    for name, node in profiles(file).items():
        figures: Mapping[str, Any] = node.plain()
        assumed = ", ".join(figures.get("assumed", ())) or "–"
        source = " ".join(str(figures.get("source", "–")).split())
        yield (f"`{name}`", *cells(figures), assumed, source)


def _machine(figures: Mapping[str, Any]) -> tuple[str, ...]:
    network = figures["network"]
    if isinstance(network, Mapping):
        network = f"{network['profile']}, {network['bandwidth']}"
    cores = f"{figures['store_cores']} at {figures.get('store_core_speed', 1)}"
    store = f"{cores}, {figures['store_memory']}"
    disks = figures["disk"]
    return disks["raft"], disks["kv"], network, store, str(figures["tidb_cores"])


def _disk(figures: Mapping[str, Any]) -> tuple[str, ...]:
    append = figures["append"]
    spikes = append.get("spikes") if isinstance(append, Mapping) else None
    rare = ""
    if spikes:
        part = f"{spikes['probability']:f}".rstrip("0")
        rare = f"{part} of them, {spikes['shortest']} to {spikes['longest']}"
    throttled = "yes" if figures.get("throttled") else "no"
    writes, reads = (
        f"{figures[f'{way}_bandwidth']}, {figures[f'{way}_iops']:,}/s"
        if f"{way}_iops" in figures
        else "of the same tokens"
        if throttled == "yes"
        else "–"
        for way in ("write", "read")
    )
    return writes, reads, _shape(append), rare or "–", throttled


def _network(figures: Mapping[str, Any]) -> tuple[str, ...]:
    between = figures.get("cross_zone")
    return (
        _shape(figures["same_zone"]), _shape(between) if between else "–", figures["bandwidth"],
    )  # fmt: skip


def _shape(shape: Mapping[str, Any] | str) -> str:
    """Returns a distribution in the words of its form; of measured quantiles two."""
    if isinstance(shape, str):
        return shape
    if "quantiles" in shape:
        median, high = (
            min(shape["quantiles"], key=lambda pair: abs(pair[0] - share))[1]
            for share in (0.5, 0.99)
        )
        return f"measured: p50 {median}, p99 {high}"
    return ", ".join(f"{name} {value}" for name, value in shape.items() if name != "spikes")
