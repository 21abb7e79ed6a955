"""The printed comparison: fits, says its uncertainty, says when it has none."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.console import Console

from analysis.metrics.numbers import NOTHING, StudyNumber
from analysis.metrics.rounding import short
from analysis.report.cells import ratio_cell, value_cell
from analysis.report.comparison import comparison_tables
from analysis.report.table import Cell, ReportTable, texts
from analysis.report.terminal import print_tables


def row(value: float | None, half: float | None = 0.1, **more: Any) -> dict[str, Any]:
    ends = (None, None) if half is None or value is None else (value - half, value + half)
    name = {"metric": "lock_latency_ms", "class": "all", "stat": "mean", "point": {}}
    return name | {"value": value, "ci_low": ends[0], "ci_high": ends[1], "replications": 1} | more


def ratio(value: float, half: float | None, metric: str = "lock_latency_ms") -> dict[str, Any]:
    of = row(value, half, metric=metric)
    return {"ratio": of.pop("value"), **of}


def test_a_value_has_as_many_digits_as_its_half_width_allows() -> None:
    assert value_cell(StudyNumber.of(row(1.23456, 0.04)), 1.0).text == "1.23 ± 0.04"
    assert value_cell(StudyNumber.of(row(14838.2, 97.4)), 1.0).text == "14,838 ± 97"
    assert value_cell(StudyNumber.of(row(2048.0, 102.4)), 1 / 1024).text == "2.00 ± 0.10"


def test_without_an_interval_the_number_of_replications_is_said() -> None:
    assert value_cell(StudyNumber.of(row(1.23456, None)), 1.0).text == "1.23 (n=1)"
    assert ratio_cell(StudyNumber.of(ratio(0.5, None))).text == "0.500 (n=1)"
    assert value_cell(NOTHING).text == "–"
    assert ratio_cell(NOTHING).text == "–"


@pytest.mark.parametrize(
    ("value", "half", "metric", "style"),
    [
        (0.5, 0.1, "lock_latency_ms", "green"),
        (1.5, 0.1, "lock_latency_ms", "red"),
        (1.5, 0.1, "txn_per_s", "green"),
        (0.5, 0.1, "tpmc", "red"),
        (1.01, 0.1, "lock_latency_ms", ""),
    ],
)
def test_a_ratio_is_coloured_when_its_interval_excludes_one(
    value: float, half: float, metric: str, style: str
) -> None:
    cell = ratio_cell(StudyNumber.of(ratio(value, half, metric)))
    out = io.StringIO()
    table = ReportTable("", ("", "ratio"), ((Cell("x"), cell),))
    print_tables(Console(file=out, force_terminal=True, color_system="standard"), [table])
    colours = {"green": "32", "red": "31"}
    assert re.findall(r"\x1b\[(3\d)m", out.getvalue()) == ([colours[style]] if style else [])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.0123, "0.012"),
        (0.000412, "0.00041"),
        (1.234, "1.23"),
        (12.34, "12.3"),
        (12345.6, "12,346"),
    ],
)
def test_short_numbers(value: float, text: str) -> None:
    assert short(value) == text


@pytest.mark.parametrize("width", [80, 100, 200])
def test_no_cell_is_cut_and_no_line_is_too_long(width: int) -> None:
    variants = ["pipelined", "sync", "in_memory"]
    rows = [row(1.2345, 0.0123, variant=name) for name in variants]
    comparisons = [ratio(0.512, 0.01) | {"variant": name} for name in variants[1:]]
    out = io.StringIO()
    console = Console(file=out, width=width)
    summary = {"rows": rows, "comparisons": comparisons}
    print_tables(console, comparison_tables(summary, variants, [{}]))
    text = out.getvalue()
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    assert text.count("1.23 ± 0.01") == 3
    assert text.count("0.512 [0.502, 0.522]") == 2
    assert "\x1b" not in text


@pytest.mark.parametrize(("half", "notes"), [(0.1, 0), (8.0, 1)])
def test_what_is_not_known_yet_is_explained_once_below(half: float, notes: int) -> None:
    rows = [row(5.0, half, variant=name) for name in ("pipelined", "in_memory")]
    summary = {"rows": rows, "comparisons": [ratio(0.5, 0.1) | {"variant": "in_memory"}]}
    (table,) = comparison_tables(summary, ["pipelined", "in_memory"], [{}])
    assert sum(note.startswith("not known yet: ") for note in table.notes) == notes


@pytest.mark.parametrize("variants", [3, 5])
def test_wide_numbers_and_long_names_take_more_tables_and_lose_nothing(variants: int) -> None:
    names = [f"in_memory_fallback_pipelined_{place}" for place in range(variants)]
    rows = [row(12_313.0, 9_236.0, variant=name) for name in names]
    comparisons = [ratio(0.512, 0.01) | {"variant": name} for name in names[1:]]
    out = io.StringIO()
    summary = {"rows": rows, "comparisons": comparisons}
    print_tables(Console(file=out, width=80), comparison_tables(summary, names, [{}]))
    text = out.getvalue()
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("12,313 ± 9,236") == variants
    assert text.count("0.512 [0.502, 0.522]") == variants - 1


@pytest.mark.parametrize(
    ("width", "values", "ratios"), [(90, [4], [2, 1]), (60, [2, 2], [1, 1, 1]), (200, [4], [3])]
)
def test_a_table_that_is_too_wide_is_cut_between_values_and_ratios_first(
    width: int, values: list[int], ratios: list[int]
) -> None:
    variants = ["one", "two", "three", "four"]
    rows = [row(12.345, 0.123, variant=name) for name in variants]
    comparisons = [ratio(0.512, 0.01) | {"variant": name} for name in variants[1:]]
    out = io.StringIO()
    summary = {"rows": rows, "comparisons": comparisons}
    print_tables(Console(file=out, width=width), comparison_tables(summary, variants, [{}]))
    said = [(line.count("±"), line.count("[")) for line in out.getvalue().splitlines()]
    together = [each for each in said if all(each)]
    assert together == ([(4, 3)] if width == 200 else [])
    assert [each for each, _ in said if each] == values
    assert [each for _, each in said if each] == ratios


def test_equal_replications_do_not_say_how_far_off_they_are() -> None:
    assert value_cell(StudyNumber.of(row(0.0, 0.0)), 1.0).text == "0"
    assert value_cell(StudyNumber.of(row(0.1234, 0.0)), 1.0).text == "0.123 (all equal)"


def wide_table(title: str = "Loads", note: str = "in seconds") -> ReportTable:
    rows = (texts("a case", "1.0 ± 0.1", "2.0 ± 0.2", "3.0 ± 0.3", "4.0 ± 0.4", "some words"),)
    headings = ("case", "one", "two", "three", "four", "more")
    return ReportTable(title, headings, rows, (note,), words=(0, 5), spare=(5,))


def lines(width: int, *tables: ReportTable) -> list[list[str]]:
    out = io.StringIO()
    print_tables(Console(file=out, width=width), tables)
    return [line.split() for line in out.getvalue().splitlines() if line.strip(" ─")]


def test_a_table_that_is_too_wide_loses_its_spare_columns_before_it_is_cut() -> None:
    assert lines(80, wide_table())[1] == ["case", "one", "two", "three", "four", "more"]
    assert lines(60, wide_table())[1] == ["case", "one", "two", "three", "four"]


def test_a_table_is_cut_into_parts_of_about_as_many_columns_each_with_the_names() -> None:
    shown = lines(50, wide_table())
    assert shown[1] == ["case", "one", "two"]
    assert shown[3] == ["case", "three", "four"]
    assert [line[:2] for line in shown if line[0] == "a"] == [["a", "case"]] * 2
    assert [" ".join(line) for line in shown].count("Loads") == 1


def test_a_note_of_several_tables_is_printed_once_below_the_last() -> None:
    shown = lines(80, wide_table("x"), wide_table("y"), wide_table("z", note="in minutes"))
    told = [" ".join(line) for line in shown]
    assert told.count("in seconds") == 1
    assert told.index("y") < told.index("in seconds") < told.index("z")


def test_nothing_of_a_scenario_is_markup() -> None:
    odd = "[red]in[/red] [/]"
    table = ReportTable(odd, (odd, "one"), (texts(odd, odd),), (odd,))
    assert [" ".join(line) for line in lines(80, table)] == [odd, f"{odd} one", f"{odd} {odd}", odd]
