"""What never came back counts in the latencies of a unit in which work stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.metrics.catalogue import QUANTILES, NeededFacts
from analysis.metrics.unit_metrics import lower_bounds, names_of
from analysis.pipeline.aggregate import SummedUnit, SumsQuestion
from analysis.pipeline.course_tables import PointFacts
from analysis.pipeline.plot_tables import tails
from analysis.pipeline.study_tables import sums_table
from analysis.statistics.saturation import Verdict
from analysis.study.parquet_sink import ParquetSink
from analysis.study.unit_folder import UnitRecord
from sim.record import Recorder

WINDOW_NS = 100_000_000
EVERYTHING = NeededFacts(None, None, None)
MS = 1_000_000


def facts(units_dir: Path, ended: int, left: int) -> None:
    """Writes a unit whose transactions took 10 to 20 ms, and those without an end 1 s and more."""
    folder = units_dir / "unit"
    folder.mkdir()
    with ParquetSink(folder) as sink:
        recorder = Recorder(WINDOW_NS, sink)
        for number in range(ended):
            recorder.series("txn_latency", "move").add(10 * MS + 10 * MS * number // ended)
            recorder.series("lock_latency", "pipelined").add(MS)
        for number in range(left):
            recorder.series("txn_unfinished", "move").add(1000 * MS + MS * number)
            recorder.series("request_unfinished", "lock_waiting").add(500 * MS)
        recorder.counter("txns", "move").value = ended
        recorder.close(WINDOW_NS)


def values(units_dir: Path, *, censored: bool) -> dict[tuple[str, ...], float]:
    unit = SummedUnit(0, "unit", 0, 1, censored)
    sums = sums_table([SumsQuestion(str(units_dir), (unit,), EVERYTHING).answer()], 1)
    bounds = {(name[0], name[1], name[2]) for name in lower_bounds(sums).columns}
    numbers = sums.iloc[0].tolist()
    found = dict(zip(names_of(sums), numbers, strict=True))
    of_both = [("txn_latency_ms", class_, "max") in bounds for class_ in ("all", "move")]
    assert of_both == [censored, censored]
    return found


def test_a_unit_that_works_is_of_what_has_ended(tmp_path: Path) -> None:
    facts(tmp_path, 100, 10)
    found = values(tmp_path, censored=False)
    assert found["txn_latency", "all", "max"] < 20 * MS
    assert found["txn_latency", "all", "p99"] < 21 * MS


@pytest.mark.parametrize("censored", [False, True])
@pytest.mark.parametrize("longest", [10_000_001, 65 * MS, 2**40 - 5])
def test_no_quantile_is_above_the_longest(tmp_path: Path, longest: int, *, censored: bool) -> None:
    folder = tmp_path / "unit"
    folder.mkdir()
    with ParquetSink(folder) as sink:
        recorder = Recorder(WINDOW_NS, sink)
        for class_ in ("move", "read"):
            for _ in range(300):
                recorder.series("txn_latency", class_).add(longest)
        recorder.close(WINDOW_NS)
    unit = SummedUnit(0, "unit", 0, 1, censored)
    question = SumsQuestion(str(tmp_path), (unit,), NeededFacts((), ("txn_latency",), ()))
    found = [row for row in question.answer().to_pylist() if row["stat"] in QUANTILES]
    assert {row["class"] for row in found} == {"move", "read", "all"}
    assert {row["stat"] for row in found} == set(QUANTILES)
    assert all(0.98 * longest < row["value"] <= longest for row in found)


def test_quantiles_among_what_never_came_back_are_lower_bounds(tmp_path: Path) -> None:
    facts(tmp_path, 90, 10)
    found = values(tmp_path, censored=True)
    for class_ in ("all", "move"):
        assert found["txn_latency", class_, "p50"] == pytest.approx(15.6 * MS, rel=0.03)
        assert found["txn_latency", class_, "p90"] == pytest.approx(20 * MS, rel=0.03)
        assert found["txn_latency", class_, "p99"] == pytest.approx(1009 * MS, rel=0.02)
        assert found["txn_latency", class_, "max"] == 1009 * MS
        assert found["txn_latency", class_, "mean"] == pytest.approx(114 * MS, rel=0.02)
        assert found["txn_latency", class_, "count"] == 90
        assert found["txn_latency", class_, "at_least:p99"] == 1.0
        assert found["txn_latency", class_, "at_least:mean"] == 1.0
        assert ("txn_latency", class_, "at_least:p90") not in found


def test_who_waits_for_another_transaction_is_no_slow_lock_request(tmp_path: Path) -> None:
    facts(tmp_path, 90, 10)
    found = values(tmp_path, censored=True)
    assert found["lock_latency", "all", "max"] == MS
    assert ("lock_latency", "all", "at_least:max") not in found


def test_where_a_quantile_is_not_known_the_longest_is_not_either(tmp_path: Path) -> None:
    folder = tmp_path / "unit"
    folder.mkdir()
    with ParquetSink(folder) as sink:
        recorder = Recorder(WINDOW_NS, sink)
        for _ in range(90):
            recorder.series("txn_latency", "move").add(500 * MS)
        for _ in range(10):
            recorder.series("txn_unfinished", "move").add(300 * MS)
        recorder.close(WINDOW_NS)
    found = values(tmp_path, censored=True)
    assert found["txn_latency", "all", "max"] == 500 * MS
    assert found["txn_latency", "all", "at_least:p99"] == 1.0


def test_without_a_single_end_all_is_more_than_its_age(tmp_path: Path) -> None:
    facts(tmp_path, 0, 10)
    found = values(tmp_path, censored=True)
    assert found["txn_latency", "all", "p50"] == pytest.approx(1004.5 * MS, rel=0.02)
    assert found["txn_latency", "all", "at_least:p50"] == 1.0


@pytest.mark.parametrize("left", [1, 3, 10])
def test_a_bound_is_never_more_than_the_greatest_age(left: int, tmp_path: Path) -> None:
    facts(tmp_path, 0, left)
    found = values(tmp_path, censored=True)
    for stat in ("p50", "p99", "p999"):
        assert found["txn_latency", "all", stat] <= found["txn_latency", "all", "max"]


@pytest.mark.parametrize(
    ("verdict", "least", "unended"),
    [(Verdict.STABLE, 0.0, 0), (Verdict.OUTAGE, 30 / 130, 30), (Verdict.DEGRADED, 30 / 130, 30)],
)
def test_a_tail_ends_at_the_share_that_never_came_back(
    tmp_path: Path, verdict: Verdict, least: float, unended: int
) -> None:
    facts(tmp_path, 100, 30)
    unit = UnitRecord(
        unit_hash="unit", variant="in_memory", replication=0, point={}, window_ns=WINDOW_NS,
        simulated_ns=10**8, warmup_windows=0, verdict=verdict, verdict_reason="", events=0,
        transactions=0, violations=[], wall_s=0.0, cpu_s=0.0, model="",
    )  # fmt: skip
    table = tails(PointFacts(str(tmp_path), [unit])).to_pandas()
    txns, locks = (table[table["metric"] == f"{of}_latency"] for of in ("txn", "lock"))
    assert txns["share"].min() == pytest.approx(least)
    assert set(txns["unended"]) == {unended}
    assert txns["above"].min() == unended
    # Requests that wait for another transaction's lock are no lock latencies.
    assert locks["share"].min() == 0
    assert set(locks["unended"]) == {0}
