"""The schema documents itself: every key has words and a source, and editors are told the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from analysis.metrics.catalogue import COUNTERS, METRICS, SERIES, Derived
from analysis.study.expectation import Expectation
from analysis.study.json_schema import json_schema
from analysis.study.run import RunSection
from analysis.study.sections import Capacity, Sensitivity, SweepSection
from sim import fact_names
from sim.scenario.fields import Key, ListOf, MapOf
from sim.scenario.schema.hardware import Hardware
from sim.scenario.schema.operations import OPERATIONS
from sim.scenario.schema.run import Topology
from sim.scenario.schema.tikv import Tikv
from sim.scenario.schema.workload import CustomSection, SysbenchSection, TpccSection
from sim.scenario.section import Section, SectionOf, keys_of, name_of

TOP = (
    RunSection, Topology, Hardware, Tikv, TpccSection, SysbenchSection,
    CustomSection, Expectation, SweepSection, Capacity, Sensitivity,
    *OPERATIONS.values(),
)  # fmt: skip


def sections(section: type[Section]) -> Iterator[type[Section]]:
    """Yields a section and those of its keys, in lists and mappings, too."""
    yield section
    for each in keys_of(section).values():
        form: Any = each.form
        while isinstance(form, ListOf | MapOf):
            form = form.form
        if isinstance(form, SectionOf):
            yield from sections(form.section)


OUR_OWN = ("behaviour", "ablations", "file")
FIELDS = {
    f"{section.__name__}.{name}": each
    for top in TOP
    for section in sections(top)
    for name, each in keys_of(section).items()
}


@pytest.mark.parametrize("field", FIELDS.values(), ids=FIELDS.keys())
def test_every_key_says_what_it_is_and_where_its_default_is_from(field: Key) -> None:
    assert "Source: " in field.description
    assert field.description.endswith(".")


def test_there_are_as_many_keys_as_the_model_has_knobs() -> None:
    assert len(FIELDS) > 100


def test_tikv_keys_are_spelled_as_tikv_spells_them() -> None:
    for key, declared in keys_of(Tikv).items():
        name = name_of(declared.field)
        assert key in OUR_OWN or key.split(".")[1].replace("-", "_").endswith(name) or (
            key.startswith(("raft-engine.", "readpool.")) or name == "wake_up_delay"
        )  # fmt: skip


def test_json_schema_is_plain_and_complete() -> None:
    schema = json.loads(json.dumps(json_schema()))
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert set(schema["properties"]) >= {
        "about", "extends", "run", "cluster", "hardware", "tikv", "workload", "compare", "sweep",
        "expect", "capacity", "sensitivity",
    }  # fmt: skip
    text = json.dumps(schema)
    for key in ("pessimistic-txn.in-memory", "nvme_i3_4xlarge", "same_zone", "gp3_max", "tpcc"):
        assert f'"{key}"' in text
    assert "additionalProperties" in text


def test_json_schema_refers_only_to_what_it_defines() -> None:
    schema = json_schema()

    def references(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            if "$ref" in node:
                yield node["$ref"]
            for child in node.values():
                yield from references(child)
        elif isinstance(node, list):
            for child in node:
                yield from references(child)

    for reference in references(schema):
        assert reference.removeprefix("#/$defs/") in schema["$defs"]


def test_only_series_have_more_statistics_than_the_mean() -> None:
    assert {name for name, of in METRICS.items() if of.stats != ("mean",)} == set(SERIES)


def test_metrics_are_made_of_facts_that_units_leave() -> None:
    assert {each.fact for each in SERIES.values()} <= set(fact_names.SERIES)
    assert {each.fact for each in COUNTERS.values()} <= set(fact_names.COUNTERS)
    derived = [each.made_of for each in METRICS.values() if isinstance(each.made_of, Derived)]
    assert {fact for each in derived for fact in each.counters} <= set(fact_names.COUNTERS)
    assert {fact for each in derived for fact in each.series} <= set(fact_names.SERIES)
