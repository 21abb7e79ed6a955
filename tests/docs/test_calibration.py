"""docs/CALIBRATION.md says of every constant what the code says: its value, and what is assumed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from benchmarks.documents import ROOT
from sim.client.backoff import Backoff
from sim.hardware.file_system import Metadata
from sim.scenario.fields import Key
from sim.scenario.profiles import profiles
from sim.scenario.schema.hardware import Hardware
from sim.scenario.section import Section, SectionOf, keys_of

DOCUMENT = (ROOT / "docs" / "CALIBRATION.md").read_text(encoding="utf-8")
KINDS = {"measured", "published", "derived", "fitted", "assumed"}
FACTORS = {
    "": 1, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9,
    "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "Gbit/s": 125e6,
}  # fmt: skip
"""To nanoseconds, bytes and bytes per second."""
PARTS = (
    "client",
    "engine",
    "etcd",
    "hardware",
    "operations",
    "pd",
    "protocol",
    "raftstore",
    "server",
    "storage",
    "transport",
    "workload",
)
BOOKKEEPING = {
    "client.connections:TIMEOUT_SCAN_NS",  # how often a list is scanned; no message waits for it
    "hardware.closed_loop:_ARRIVALS_APART_NS",  # a start of fio's jobs that is not counted
}


class Row(NamedTuple):
    name: str
    value: str
    source: str
    kind: str


ROWS = [Row(*found) for found in re.findall(
    r"^\| `([\w.:\[\]-]+)` \| ([^|]+) \| ([^|]+) \| (\w+) \|$", DOCUMENT, re.MULTILINE
)]  # fmt: skip
BY_NAME = {row.name: row for row in ROWS}


def magnitudes(text: str) -> list[float]:
    """Returns the quantities in a text, in base units."""
    found = re.findall(r"(\d[\d,]*(?:\.\d+)?) ?([A-Za-z/]*)", text.replace(" to ", "; "))
    return [float(number.replace(",", "")) * FACTORS[unit] for number, unit in found]


def field(name: str) -> Key:
    """Returns the key of a section by its name in a scenario, or by ``module:Class.key``."""
    if ":" in name:
        module, _, place = name.partition(":")
        section, _, last = place.partition(".")
        owner: type[Section] = getattr(import_module(f"sim.{module}"), section)
        return keys_of(owner)[last]
    *above, last = name.split(".")[1:]
    owner = Hardware
    for each in above:
        owner = section_of(owner, each)
    return keys_of(owner)[last]


def section_of(owner: type[Section], key: str) -> type[Section]:
    form = keys_of(owner)[key].form
    assert isinstance(form, SectionOf)
    return form.section


def is_key(name: str) -> bool:
    place = name.partition(":")[2]
    return not place or "." in place


def values_in_the_code(name: str) -> list[float]:
    """Returns the value of a key or a constant in base units; of those with two parts, both."""
    if is_key(name):
        default = field(name).default
        return magnitudes(str(default))
    module, _, place = name.partition(":")
    constant, _, item = place.partition("[")
    value = getattr(import_module(f"sim.{module}"), constant)
    if isinstance(value, Mapping):
        value = {getattr(key, "name", key): each for key, each in value.items()}[item[:-1]]
    if isinstance(value, Metadata):
        return [value.size_bytes, value.ios]
    if isinstance(value, Backoff):
        return [value.base_ms * FACTORS["ms"], value.cap_ms * FACTORS["ms"]]
    return [value * (FACTORS["ms"] if constant.endswith("_MS") else 1)]


class Constant(NamedTuple):
    name: str
    said: str


def constants(path: Path) -> Iterator[Constant]:
    """Yields a module's numeric constants with what the docstring below them says.

    Lines without a gap between them share the docstring below the last.
    """
    module = ".".join(path.relative_to(ROOT / "sim").with_suffix("").parts)
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    body = ast.parse(text).body
    waiting: list[tuple[str, str]] = []
    end = -1
    for node in [*body, ast.Pass(lineno=-9, end_lineno=-9)]:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and waiting:
            said = str(node.value.value)
            yield from (Constant(name, f"{comment} {said}") for name, comment in waiting)
            waiting = []
            continue
        if node.lineno != end + 1:
            yield from (Constant(name, comment) for name, comment in waiting)
            waiting = []
        targets = (
            [node.target] if isinstance(node, ast.AnnAssign)
            else node.targets if isinstance(node, ast.Assign) else []
        )  # fmt: skip
        for target in targets:
            if isinstance(target, ast.Name) and target.id.isupper():
                value = getattr(import_module(f"sim.{module}"), target.id)
                if isinstance(value, int | float) and not isinstance(value, bool):
                    comment = " ".join(
                        line.partition("#")[2] for line in lines[node.lineno - 1 : node.end_lineno]
                    )
                    waiting.append((f"{module}:{target.id}", comment))
        end = node.end_lineno or -1


CONSTANTS = [
    constant
    for part in PARTS
    for path in sorted((ROOT / "sim" / part).rglob("*.py"))
    for constant in constants(path)
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_value_is_that_of_the_code(row: Row) -> None:
    assert magnitudes(row.value) == pytest.approx(values_in_the_code(row.name), rel=1e-12)
    assert row.kind in KINDS
    assert row.source.strip()


def test_no_row_is_lost_in_reading_and_none_is_there_twice() -> None:
    kinds = "|".join(KINDS)
    assert len(re.findall(rf"\| (?:{kinds}) \|$", DOCUMENT, re.MULTILINE)) == len(ROWS)
    assert len(BY_NAME) == len(ROWS) > 150


@pytest.mark.parametrize("part", ["cpu", "lsm", "etcd"])
def test_every_cost_is_listed_as_the_schema_tells_its_source(part: str) -> None:
    for key, its_field in keys_of(section_of(Hardware, part)).items():
        row = BY_NAME[f"hardware.{part}.{key}"]
        source = its_field.description.partition("Source: ")[2]
        is_fitted = source.startswith(("fit", "least squares"))
        assert (row.kind == "assumed") == source.startswith("assumed"), row
        assert (row.kind == "fitted") == is_fitted, row


def test_every_constant_with_a_unit_is_listed() -> None:
    units = {each.name for each in CONSTANTS if each.name.endswith(("_NS", "_MS", "_BYTES"))}
    assert len(units) > 60
    assert units - BY_NAME.keys() == BOOKKEEPING


def test_what_the_code_calls_assumed_is_listed_as_assumed_and_the_reverse() -> None:
    in_the_code = {each.name for each in CONSTANTS if "ASSUMED" in each.said}
    in_the_document = {row.name for row in ROWS if row.kind == "assumed" and not is_key(row.name)}
    assert len(in_the_code) > 10
    assert in_the_code == in_the_document


@pytest.mark.parametrize("row", [row for row in ROWS if is_key(row.name)], ids=lambda row: row.name)
def test_a_key_is_assumed_if_its_source_says_so(row: Row) -> None:
    source = field(row.name).description.partition("Source: ")[2]
    assert (row.kind == "assumed") == ("assumed" in source)


def test_assumed_figures_of_profiles_are_those_of_the_profiles() -> None:
    rows = re.findall(
        r"^\| `((?:disks|networks|machines)/\S+)` \| (.+) \|$", DOCUMENT, re.MULTILINE
    )
    listed = {name: re.findall(r"`([^`]+)`", figures) for name, figures in rows}
    assert listed == {
        f"{file}/{name}": profile.plain()["assumed"]
        for file in ("disks", "networks", "machines")
        for name, profile in profiles(file).items()
        if profile.plain().get("assumed")
    }


def test_the_factors_of_the_screening_are_those_of_the_scenario() -> None:
    text = (ROOT / "scenarios" / "sensitivity_rfc77.yaml").read_text(encoding="utf-8")
    factors: dict[str, Any] = yaml.safe_load(text)["sensitivity"]["factors"]
    table = DOCUMENT.partition("<!-- table: screening -->")[2].partition("<!-- end of table -->")[0]
    rows = dict(re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", table, re.MULTILINE))
    assert list(rows) == list(factors)
    for name, bounds in rows.items():
        written = [magnitudes(str(bound))[0] for bound in factors[name]["between"]]
        assert magnitudes(bounds) == pytest.approx(written), name
