"""The reference of all keys, operations, metrics and profiles, made from the schema itself.

Law: nothing is said here that the schema, the catalogue of metrics or a profile does not say; this
is only their order and layout. ``docs/REFERENCE.md`` is what ``reference_text`` returns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from analysis.metrics.catalogue import METRICS
from analysis.report.reference_words import (
    PROFILE_COLUMNS,
    default_words,
    kind_words,
    profile_rows,
)
from analysis.study.json_schema import json_schema
from sim.scenario.fields import meaning_and_source
from sim.scenario.schema.operations import OPERATIONS
from sim.scenario.section import BY_RELEASE

_KEYS: Final = ("key", "values", "default", "meaning", "where from")
_METRICS: Final = ("metric", "unit", "statistics", "meaning", "classes besides `all`")

_SECTIONS: Final = (
    ("run", "RunSection"),
    ("cluster", "Topology"),
    ("cluster.tidb", "Tidb"),
    ("hardware", "Hardware"),
    ("hardware.disk", "DisksSection"),
    ("hardware.disk.raft, hardware.disk.kv", "DiskSection"),
    ("longer", "LongerSection"),
    ("crowding", "CrowdingSection"),
    ("crowding, one number in flight", "CrowdSection"),
    ("hardware.network", "NetworkSection"),
    ("hardware.cpu", "CpuCosts"),
    ("hardware.lsm", "LsmSpec"),
    ("hardware.etcd", "EtcdCosts"),
    ("tikv", "Tikv"),
    ("workload, any kind", "ArrivalSection"),
    ("workload, tpcc", "TpccSection"),
    ("workload.mix", "TpccMix"),
    ("workload, oltp (sysbench)", "SysbenchSection"),
    ("workload, etcd", "EtcdSection"),
    ("workload, custom", "CustomSection"),
    ("workload.tables.NAME", "TableSpec"),
    ("workload.transactions.NAME", "CustomTransaction"),
    ("workload.transactions.NAME.statements", "CustomStatement"),
    ("hot", "Hot"),
    ("A distribution of durations", "Shape"),
    ("spikes", "Spikes"),
    ("sweep", "SweepSection"),
    ("sweep.latin_hypercube", "LatinHypercubeSection"),
    ("A range", "RangeSection"),
    ("capacity", "Capacity"),
    ("capacity.prices.PROFILE", "NodePrices"),
    ("sensitivity", "Sensitivity"),
    ("expect", "Expectation"),
)
"""Headings and the definitions below them, in a reader's order."""

_ARRIVAL: Final = ("threads", "rate", "think_time")
_TIMED: Final = ("name", "at", "every", "rate", "from", "until", "count")
_DRIVEN: Final = ("name", "from", "until")

_OPERATION: Final = "do: "
"""How the heading of an operation begins."""

_HEAD: Final = """\
# Reference

Made by `python run_sim.py reference`; do not edit. `python run_sim.py reference WORD` prints only
what has the word in its name or, if nothing has, in its meaning.

Where a key is not required and has no default, its meaning or its last column says what holds
without it. Durations are written `5ms`, sizes `96MiB`, bandwidths `500MB/s`, rates `100/s`. In
`compare`, `sweep`, `sensitivity` and `--set` keys are dotted, `tikv.pessimistic-txn.in-memory`.
"""


class NotInReferenceError(Exception):
    """Nothing in the reference is called so."""


@dataclass(frozen=True, slots=True)
class ReferenceTable:
    """A part of the reference: a heading, a sentence, rows of cells."""

    title: str
    text: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@cache
def _tables() -> tuple[ReferenceTable, ...]:
    profiles = (
        ReferenceTable(
            f"Profiles: {file}",
            f"`scenarios/profiles/{file}.yaml` has these with their sources in full.",
            columns,
            tuple(profile_rows(file)),
        )
        for file, columns in PROFILE_COLUMNS.items()
    )
    return (*_scenario_tables(), *_operation_tables(), _metric_table(), *profiles)


def reference_text(word: str = "") -> str:
    """Returns the reference as Markdown.

    Args:
        word: keep only sections that it names, operations with it in their name, and rows whose
            first cell, or whose heading with it, has it; if there is none, what has the word in its
            meaning. No head and no contents then.

    Raises:
        NotInReferenceError: if nothing has the word.
    """
    if not word:
        contents = " ·\n".join(_link(table.title) for table in _tables())
        return f"{_HEAD}\n{contents}\n" + "\n".join(_lines_of(_tables()))
    for select in (_only, _explained_by):
        found = [part for table in _tables() if (part := select(word.lower(), table)) is not None]
        if found:
            return "\n".join(_lines_of(found)).lstrip("\n")
    raise NotInReferenceError(f"nothing in the reference is called {word!r}")


def names() -> list[str]:
    """Returns what can be looked for: sections, and the first cell of every row."""
    sections = dict.fromkeys(name for table in _tables() for name in _sections(table))
    return [*sections, *(row[0].strip("`") for table in _tables() for row in table.rows)]


def _sections(table: ReferenceTable) -> list[str]:
    """Returns the names in a heading: its parts that are one word, such as a dotted key."""
    parts = map(str.strip, re.split(r"[,:()]", table.title))
    return [part for part in parts if part and " " not in part]


def _only(word: str, table: ReferenceTable) -> ReferenceTable | None:
    """Returns a table's rows that have the word; all of them if it names the section."""
    if any(f"{name}.".lower().startswith(f"{word}.") for name in _sections(table)):
        return table
    title = table.title.lower()
    if title.startswith(_OPERATION) and word in title.removeprefix(_OPERATION):
        return table
    rows = tuple(
        row
        for row in table.rows
        if word in row[0] or ("." in word and word in f"{title}.{row[0]}".replace("`", ""))
    )
    return replace(table, rows=rows) if rows else None


def _explained_by(word: str, table: ReferenceTable) -> ReferenceTable | None:
    """Returns a table's rows in whose meanings a word begins so; an operation if its own does."""
    begins = re.compile(rf"\b{re.escape(word)}", re.IGNORECASE)
    if table.title.startswith(_OPERATION) and begins.search(table.text):
        return table
    if "meaning" not in table.columns:
        return None
    at = table.columns.index("meaning")
    rows = tuple(row for row in table.rows if begins.search(row[at]))
    return replace(table, rows=rows) if rows else None


def _scenario_tables() -> Iterator[ReferenceTable]:
    schema = _schema()
    yield ReferenceTable(
        "A scenario file", schema["description"], ("section", "meaning"),
        tuple((f"`{key}`", said["description"]) for key, said in schema["properties"].items()),
    )  # fmt: skip
    definitions = _definitions()
    for title, name in _headings():
        section = definitions[name]
        keys = list(section["properties"])
        yield _key_table(title, section, sorted(keys) if title == "tikv" else keys)


@cache
def _headings() -> tuple[tuple[str, str], ...]:
    """Returns headings and definitions; a new definition has its own name as its heading."""
    listed = {name for _, name in _SECTIONS} | {model.__name__ for model in OPERATIONS.values()}
    others = [name for name in _schema()["$defs"] if name not in listed]
    return (*_SECTIONS, *((name.removesuffix("Section"), name) for name in others))


@cache
def _schema() -> dict[str, Any]:
    return json_schema()


@cache
def _definitions() -> dict[str, Any]:
    """Returns sections by name, with what all workloads have as one of its own."""
    found: dict[str, Any] = dict(_schema()["$defs"])
    found["Shape"] = found["Shape"]["anyOf"][1]
    tpcc = found["TpccSection"]["properties"]
    found["ArrivalSection"] = {
        "description": "How clients arrive: a closed loop of threads, or an open loop with a rate.",
        "properties": {key: tpcc[key] for key in _ARRIVAL},
    }
    for name in ("TpccSection", "SysbenchSection", "EtcdSection", "CustomSection"):
        own = {k: v for k, v in found[name]["properties"].items() if k not in _ARRIVAL}
        found[name] = found[name] | {"properties": own}
    return found


def _key_table(title: str, section: Mapping[str, Any], keys: Iterable[str]) -> ReferenceTable:
    titles = {name: _link(heading) for heading, name in _headings()}
    rows = []
    for key in keys:
        schema = section["properties"][key]
        said, _, by_release = schema.get("description", "").partition(BY_RELEASE)
        meaning, source = meaning_and_source(said)
        default = by_release or default_words(key, section)
        rows.append((f"`{key}`", kind_words(schema, titles), default, meaning, source))
    text = " ".join(section["description"].split())
    return ReferenceTable(title, text, _KEYS, tuple(rows))


def _operation_tables() -> Iterator[ReferenceTable]:
    definitions = _definitions()
    sections = {kind: definitions[model.__name__] for kind, model in OPERATIONS.items()}
    for title, text, shared in (
        ("operations", "When an operation is done.", _TIMED),
        ("operations, schedulers", "When a scheduler works.", _DRIVEN),
    ):
        kinds = [kind for kind, each in sections.items() if _shared_keys(each) is shared]
        keys = _key_table(title, sections[kinds[0]] | {"description": text}, shared)
        values = ", ".join(f"`{kind}`" for kind in kinds)
        what = ("`do`", values, "required", "What is done; each has keys of its own, below.", "")
        yield ReferenceTable(title, text, keys.columns, (what, *keys.rows))
    for kind, section in sections.items():
        own = [key for key in section["properties"] if key not in (*_shared_keys(section), "do")]
        yield _key_table(f"{_OPERATION}{kind}", section, own)


def _shared_keys(operation: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the keys that say when an operation is done."""
    return _TIMED if "at" in operation["properties"] else _DRIVEN


def _metric_table() -> ReferenceTable:
    rows = tuple(
        (f"`{name}`", of.unit or "–", ", ".join(of.stats), of.meaning, of.classes or "–")
        for name, of in METRICS.items()
    )
    text = (
        "A figure is written `metric`, `metric.stat` or `metric.class.stat`; without a class it is "
        "that of `all`, without a statistic the mean. A metric without a mean needs its statistic."
    )
    return ReferenceTable("Metrics", text, _METRICS, rows)


def _link(title: str) -> str:
    kept = "".join(each for each in title.lower() if each.isalnum() or each in " -_")
    return f"[{title}](#{kept.replace(' ', '-')})"


def _lines_of(tables: Iterable[ReferenceTable]) -> Iterator[str]:
    for table in tables:
        yield from ("", f"## {table.title}", "", table.text, "")
        if not table.rows:
            yield "No keys of its own."
            continue
        yield "| " + " | ".join(table.columns) + " |"
        yield "|" + "---|" * len(table.columns)
        for row in table.rows:
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
    yield ""
