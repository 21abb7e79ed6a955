"""A scenario's section leads to the workload it names."""

from __future__ import annotations

import pytest

from sim.scenario.schema.arrival import StatementSpec, TableSpec, TransactionSpec, Workload
from sim.streams import Streams
from sim.workload import build_workload


def test_tpcc_with_a_mix() -> None:
    section = Workload(kind="tpcc", warehouses=2, mix={"payment": 1})
    workload = build_workload(section, Streams(1, 0))
    assert {workload.transaction(0).name for _ in range(5)} == {"payment"}
    assert len(workload.tables()) == 9


@pytest.mark.parametrize("script", ["oltp_read_write", "oltp_update_index"])
def test_sysbench(script: str) -> None:
    section = Workload(kind=script, tables=2, table_rows=1_000, rand_type="special")
    workload = build_workload(section, Streams(1, 0))
    assert workload.transaction(0).name == script
    assert [table.name for table in workload.tables()] == ["sbtest1", "sbtest2"]


def test_custom() -> None:
    touch = StatementSpec(verb="update", table="acct", rows=1, hot_rows=1, hot_fraction=1.0)
    section = Workload(
        kind="custom",
        custom_tables=(TableSpec(name="acct", rows=100, row_bytes=80),),
        transactions=(TransactionSpec(name="touch", weight=1, statements=(touch,)),),
    )
    workload = build_workload(section, Streams(1, 0))
    transaction = workload.transaction(0)
    assert transaction.name == "touch"
    (update,) = transaction.statements()
    assert update.writes[0].value_bytes == 80


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="ycsb"):
        build_workload(Workload(kind="ycsb"), Streams(1, 0))
