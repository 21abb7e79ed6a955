"""A scenario's section leads to the workload it names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import pytest

from sim.streams import Streams
from sim.workload import build_workload

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Rows:
    rows: int
    row_bytes: int


@dataclass(frozen=True)
class Line:
    verb: Literal["read", "lock", "update", "insert"]
    table: str
    rows: int | None = 1
    hot_rows: int = 0
    hot_fraction: float = 0.0


@dataclass(frozen=True)
class Kind:
    name: str
    statements: tuple[Line, ...]
    weight: float = 1
    autocommit: bool = False


@dataclass(frozen=True)
class Section:
    kind: str
    warehouses: int = 2
    mix: Mapping[str, float] | None = None
    tables: int | Mapping[str, Rows] = 2
    table_rows: int = 1_000
    transactions: tuple[Kind, ...] = field(default=())


def test_tpcc_with_a_mix() -> None:
    workload = build_workload(Section("tpcc", mix={"payment": 1}), Streams(1, 0))
    assert {workload.transaction(0).name for _ in range(5)} == {"payment"}
    assert len(workload.tables()) == 9


@pytest.mark.parametrize("script", ["oltp_read_write", "oltp_update_index"])
def test_sysbench(script: str) -> None:
    workload = build_workload(Section(script), Streams(1, 0))
    assert workload.transaction(0).name == script
    assert [table.name for table in workload.tables()] == ["sbtest1", "sbtest2"]


def test_custom() -> None:
    kinds = (Kind("touch", (Line("update", "acct", hot_rows=1, hot_fraction=1.0),)),)
    section = Section("custom", tables={"acct": Rows(100, 80)}, transactions=kinds)
    workload = build_workload(section, Streams(1, 0))
    (update,) = workload.transaction(0).statements()
    assert update.writes[0].value_bytes == 80
    assert workload.classes == ("touch",)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="ycsb"):
        build_workload(Section("ycsb"), Streams(1, 0))
