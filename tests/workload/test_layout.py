"""Regions cover the key space once, and are as large as TiKV's split check leaves them."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.protocol.keys import row_key
from sim.streams import Streams
from sim.units import MIB
from sim.workload.layout import (
    Segment,
    Table,
    even_start_keys,
    region_start_keys,
    rows_by_handle,
)
from sim.workload.sysbench import SysbenchWorkload
from sim.workload.tpcc import schema
from sim.workload.tpcc.segments import tables as tpcc_tables
from tests.call_count import calls_of


def test_a_long_value_has_a_record_of_its_own() -> None:
    short, long = (rows_by_handle("t", 1, 1, size).record_bytes for size in (255, 256))
    assert short == (27 + 8 + 12 + 255,)
    assert long == (27 + 8 + 12, 27 + 8 + 256)


def table(table_id: int, rows: int, row_bytes: int = 100) -> Table:
    segment = Segment(
        "t",
        row_key(table_id, 0)[:11],
        rows=rows,
        row_bytes=row_bytes,
        key_of_row=lambda row: row_key(table_id, row),
    )
    return Table(f"t{table_id}", row_key(table_id, 0)[:9], (segment,))


def test_a_table_is_cut_at_multiples_of_the_split_size() -> None:
    starts = region_start_keys([table(1, rows=40)], region_bytes=1_000)
    assert starts == [b"", row_key(1, 10), row_key(1, 20), row_key(1, 30)]


@pytest.mark.parametrize(("rows", "regions"), [(14, 1), (15, 2), (24, 2), (25, 3)])
def test_a_tail_below_half_a_region_stays_with_its_neighbour(rows: int, regions: int) -> None:
    assert len(region_start_keys([table(1, rows)], region_bytes=1_000)) == regions


def test_each_table_begins_a_region() -> None:
    starts = region_start_keys([table(1, 3), table(2, 3), table(3, 3)], region_bytes=1_000)
    assert starts == [b"", table(2, 1).start_key, table(3, 1).start_key]


@given(
    st.lists(st.integers(1, 5_000), min_size=1, max_size=6),
    st.integers(200, 100_000),
)
def test_regions_cover_all_keys_once_and_none_is_larger_than_the_maximum(
    rows: list[int], region_bytes: int
) -> None:
    tables = [table(number, count) for number, count in enumerate(rows, start=1)]
    starts = region_start_keys(tables, region_bytes)
    assert starts[0] == b""
    assert all(lower < upper for lower, upper in pairwise(starts))
    filled = [0] * len(starts)
    for number, count in enumerate(rows, start=1):
        for row in range(count):
            filled[bisect_right(starts, row_key(number, row)) - 1] += 100
    assert max(filled) <= 1.5 * region_bytes + 100


@given(st.lists(st.integers(1, 500), min_size=1, max_size=5), st.data())
def test_a_number_of_regions_is_met_exactly(rows: list[int], data: st.DataObject) -> None:
    tables = [table(number, count) for number, count in enumerate(rows, start=1)]
    regions = data.draw(st.integers(1, sum(rows)))
    starts = even_start_keys(tables, regions)
    assert len(starts) == regions
    assert starts == sorted(set(starts))


def test_more_regions_than_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="at least as many rows"):
        even_start_keys([table(1, 3)], regions=4)


def test_tpcc_regions_of_5000_warehouses_take_a_few_calls_each() -> None:
    starts: list[bytes] = []
    calls = calls_of(lambda: starts.extend(region_start_keys(tpcc_tables(5_000), 96 * MIB)))
    assert calls < 10 * len(starts)
    assert 1_150 <= len(starts) / 5 <= 1_600
    assert starts == sorted(set(starts))


def test_tpcc_data_per_warehouse() -> None:
    mib = {
        segment.name: segment.size_bytes / MIB / 1_000
        for table in tpcc_tables(1_000)
        for segment in table.segments
    }
    assert mib["stock"] == pytest.approx(37.2, abs=0.1)
    assert mib["customer"] == pytest.approx(18.9, abs=0.1)
    assert mib["order_line"] == pytest.approx(40.4, abs=0.1)
    assert mib["orders.idx_order"] == pytest.approx(3.5, abs=0.1)


@pytest.mark.parametrize("warehouses", [10, 5_000])
def test_district_and_warehouse_are_one_region_each(warehouses: int) -> None:
    starts = region_start_keys(tpcc_tables(warehouses), 96 * MIB)
    tables = tpcc_tables(warehouses)
    for hot, following in pairwise(tables[:3]):
        first = bisect_right(starts, hot.start_key)
        assert bisect_right(starts, following.start_key) == first + 1


@pytest.mark.parametrize(
    "tables",
    [
        tpcc_tables(7),
        SysbenchWorkload("oltp_write_only", Streams(1, 0), tables=3, rows=10_000).tables(),
    ],
)
def test_keys_of_rows_ascend_inside_their_segment(tables: tuple[Table, ...]) -> None:
    for number, one in enumerate(tables):
        for segment in one.segments:
            offsets = range(0, segment.size_bytes, max(1, segment.size_bytes // 997))
            keys = [segment.key_at(offset_bytes) for offset_bytes in offsets]
            assert keys == sorted(keys)
            assert one.start_key < segment.start_key <= keys[0]
            if number + 1 < len(tables):
                assert keys[-1] < tables[number + 1].start_key


def test_last_names_are_made_of_three_syllables() -> None:
    assert schema.last_name(371) == "PRICALLYOUGHT"  # TPC-C 4.3.2.3
    assert schema.encoded_text("BARBARBAR") == b"\x01BARBARBA\xffR" + b"\0" * 7 + b"\xf8"
