"""The schema documents itself: every key has words and a source, and editors are told the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic.fields import FieldInfo

from sim.scenario import json_schema
from sim.scenario.fields import Section
from sim.scenario.metrics import METRICS
from sim.scenario.schema.hardware import HardwareSection
from sim.scenario.schema.operations import KINDS
from sim.scenario.schema.run import ClusterSection, RunSection
from sim.scenario.schema.study import (
    CapacitySection,
    ExpectSection,
    SensitivitySection,
    SweepSection,
)
from sim.scenario.schema.tikv import TikvSection
from sim.scenario.schema.workload import CustomSection, SysbenchSection, TpccSection

TOP = (
    RunSection, ClusterSection, HardwareSection, TikvSection, TpccSection, SysbenchSection,
    CustomSection, ExpectSection, SweepSection, CapacitySection, SensitivitySection,
    *KINDS.values(),
)  # fmt: skip


def sections(annotation: Any) -> Iterator[type[Section]]:
    if isinstance(annotation, type) and issubclass(annotation, Section):
        yield annotation
        for field in annotation.model_fields.values():
            yield from sections(field.annotation)
    for part in get_args(annotation):
        yield from sections(part)


OUR_OWN = ("behaviour", "ablations", "file")
FIELDS = {
    f"{section.__name__}.{name}": field
    for top in TOP
    for section in sections(top)
    for name, field in section.model_fields.items()
}


@pytest.mark.parametrize("field", FIELDS.values(), ids=FIELDS.keys())
def test_every_key_says_what_it_is_and_where_its_default_is_from(field: FieldInfo) -> None:
    description = field.description or ""
    assert "Source: " in description
    assert description.endswith(".")


def test_there_are_as_many_keys_as_the_model_has_knobs() -> None:
    assert len(FIELDS) > 100


def test_tikv_keys_are_spelled_as_tikv_spells_them() -> None:
    for name, field in TikvSection.model_fields.items():
        key = field.alias or name
        assert key in OUR_OWN or key.split(".")[1].replace("-", "_").endswith(name) or (
            key.startswith("raft-engine.")
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


def test_expected_metrics_are_those_that_studies_report() -> None:
    from analysis.metrics.catalogue import COUNTERS, SERIES

    assert {metric.metric for metric in (*SERIES, *COUNTERS)} <= set(METRICS)
    assert {metric.metric for metric in SERIES} >= {
        name for name, of in METRICS.items() if of.stats != ("mean",)
    }
    assert all(METRICS[metric.metric].stats == ("mean",) for metric in COUNTERS)
