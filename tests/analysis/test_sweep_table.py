"""The printed sweep: every point while they are few, extremes when they are many, 80 columns."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from analysis.report.comparison import MOST_ROWS, comparison_tables
from analysis.report.terminal import print_tables
from tests.analysis.sweeps import THREADS, VARIANTS, Point, grid, sweep_summary

SPREAD = grid(append=["100us", "1ms"], threads=[10, 200], amplification=[1, 10])


def printed(
    summary: Mapping[str, Any], points: Sequence[Point], variants: Sequence[str] = VARIANTS
) -> str:
    out = io.StringIO()
    print_tables(Console(file=out, width=80), comparison_tables(summary, variants, points))
    assert max(len(line.rstrip()) for line in out.getvalue().splitlines()) <= 80
    assert "…" not in out.getvalue()
    return out.getvalue()


def by_threads(point: Point) -> float:
    return float(1 - point[THREADS] / 500)


def test_each_point_has_a_row_with_only_what_varies() -> None:
    points = [{**point, "hardware.profile": "gp3_max"} for point in SPREAD]
    text = printed(sweep_summary(points, by_threads), points)
    assert "gp3_max" not in text
    assert text.count("lock latency, p99 (ms)") == 1
    row = next(line for line in text.splitlines() if "100us" in line and "200" in line)
    assert row.split()[:3] == ["100us", "200", "1"]
    assert "0.600 [0.588, 0.612]" in row
    assert text.count("0.600 [0.588, 0.612]") == 4 * 4
    assert "77" not in text


def test_rows_follow_the_axes_not_the_file() -> None:
    points = grid(threads=[400, 10, 50, 100, 200])
    text = printed(sweep_summary(points), points)
    table = text[text.index("lock latency, mean") : text.index("lock latency, p99")]
    rows = [line.split()[0] for line in table.splitlines() if "0.500" in line]
    assert rows == ["10", "50", "100", "200", "400"]


def test_points_at_which_nobody_asks_for_a_lock_have_no_row_of_lock_latency() -> None:
    summary = sweep_summary(SPREAD)
    summary["rows"] = [
        row
        for row in summary["rows"]
        if row["metric"] != "lock_latency_ms" or row["point"][THREADS] == 10
    ]
    text = printed(summary, SPREAD)
    table = text[text.index("lock latency, mean") : text.index("lock latency, p99")]
    assert [line.split()[1] for line in table.splitlines() if "us " in line] == ["10", "10"]
    words = " ".join(text.split())
    assert "No lock latency, mean at 4 of 8 points." in words
    assert words.count("at 4 of 8 points") == 2


def test_refused_values_are_shown_as_such_with_the_reason_once() -> None:
    def overloaded(point: Point, variant: str) -> bool:
        return point[THREADS] == 200 and variant == "pipelined"

    text = printed(sweep_summary(SPREAD, refused=overloaded), SPREAD)
    assert text.count("refused: 2 of 3 replications are overloaded") == 1
    rows = [line for line in text.splitlines() if "refused " in f"{line} " and "us" in line]
    assert all(line.split().count("refused") >= 2 for line in rows)


def test_three_variants_are_split_rather_than_cut() -> None:
    variants = ("pipelined", "sync", "in_memory")
    text = printed(sweep_summary(SPREAD, variants=variants), SPREAD, variants)
    assert text.count("0.500 [0.490, 0.510]") == 2 * 4 * len(SPREAD)


def test_many_points_are_told_by_their_extremes() -> None:
    points = grid(threads=list(range(10, 10 + MOST_ROWS + 1)), amplification=[1])
    text = printed(sweep_summary(points, lambda point: 1 - (point[THREADS] - 10) / 500), points)
    table = text[text.index("lock latency, mean") : text.index("lock latency, p99")]
    rows = [line.split() for line in table.splitlines() if "[" in line]
    assert len(rows) == 9
    least, greatest = rows[0], rows[-1]
    assert (least[0], least[7]) == ("50", "0.920")
    assert (greatest[0], greatest[7]) == ("10", "1.00")
    assert "9 of the 41 points, evenly spaced from the least to the greatest" in text
    tally = (
        f"in_memory: below pipelined at 31 of {MOST_ROWS + 1} points, above at 0, not told apart"
    )
    assert f"{tally} at 10" in " ".join(text.split())
    assert "summary.json" in text


def test_without_a_second_variant_values_are_told() -> None:
    points = grid(threads=list(range(1, 60)))
    text = printed(sweep_summary(points, variants=["in_memory"]), points, ["in_memory"])
    assert "2.00 ± 0.04" in text
    assert "ratio" not in text
