"""Metrics files: well-formed, the same every time, and true to the facts."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from analysis.export import openmetrics
from analysis.export.exposition import (
    bound_text,
    decimal,
    head,
    label_text,
    timestamp,
)
from analysis.export.families import facts_of
from analysis.export.openmetrics import EVERY, START_S, steps_that_fit, write_metrics
from analysis.export.tikv_families import TIKV_FAMILIES, region_error_label
from analysis.export.unit_course import up_to
from analysis.metrics.catalogue import COUNTERS
from analysis.study.finished_study import FinishedStudy
from sim import fact_names
from sim.record.histogram import RELATIVE_ERROR, bucket_of

SAMPLE = re.compile(r'^([a-z_]+)\{((?:[a-z_]+="(?:[^"\\]|\\.)*",?)*)\} (\S+) (\d+\.\d{3})$')
SUFFIXES = ("_bucket", "_count", "_sum")


def lines_of(text: str) -> list[tuple[str, str, str, float]]:
    """Returns (name, labels, value, time) of all samples."""
    found = [SAMPLE.match(line) for line in text.splitlines() if not line.startswith("#")]
    assert all(found), "each line is a sample"
    return [(m[1], m[2], m[3], float(m[4])) for m in found if m]


@pytest.fixture(name="text")
def metrics_file(study: FinishedStudy, tmp_path: Path) -> str:
    paths = write_metrics(study, tmp_path)
    assert [path.name for path in paths] == ["pipelined.prom", "in_memory.prom"]
    return paths[1].read_text()


def test_a_file_is_well_formed(text: str) -> None:
    assert text.endswith("# EOF\n")
    families = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
    assert len(families) == len(set(families)), "a family's lines are together"
    assert {"tikv_in_memory_pessimistic_locking", "tikv_pessimistic_lock_memory_size"} <= set(
        families
    )
    samples = lines_of(text)
    series = [key for key, _ in groupby(samples, key=lambda sample: sample[0])]
    plain = [name for name in series if not name.endswith(SUFFIXES)]
    assert len(plain) == len(set(plain))


def test_time_goes_on_within_a_series(text: str) -> None:
    times: dict[tuple[str, str], list[float]] = {}
    for name, labels, _, at in lines_of(text):
        times.setdefault((name, labels), []).append(at)
    for known in times.values():
        assert known == sorted(set(known))
    assert min(map(min, times.values())) >= START_S
    assert max(map(max, times.values())) == pytest.approx(START_S + 1.6), "two runs of 0.8 s"


def test_a_counter_says_what_the_facts_say_and_begins_again(
    text: str, study: FinishedStudy
) -> None:
    totals = [float(value) for name, _, value, _ in lines_of(text)
              if name == "tidb_session_transaction_duration_seconds_count"]  # fmt: skip
    zeros = [place for place, total in enumerate(totals) if total == 0]
    assert len(zeros) == 2
    ends = [totals[zeros[1] - 1], totals[-1]]
    expected = [record.transactions for unit, record in study.done.items()
                if unit.variant == "in_memory"]  # fmt: skip
    assert ends == expected


def test_every_counter_begins_at_zero_twice(text: str) -> None:
    series: dict[str, list[float]] = {}
    for name, labels, value, _ in lines_of(text):
        if name in ("pessim_mutations_total", "tikv_storage_command_total"):
            series.setdefault(labels, []).append(float(value))
    assert len(series) == 4
    for values in series.values():
        half = len(values) // 2
        for run in (values[:half], values[half:]):
            assert run[0] == 0
            assert run == sorted(run)
            assert run[-1] > 0


def test_buckets_grow_to_the_count(text: str) -> None:
    samples = lines_of(text)
    name = "pessim_lock_latency_seconds"
    at = samples[-1][3]
    buckets = [int(value) for sample, _, value, time in samples
               if sample == f"{name}_bucket" and time == at]  # fmt: skip
    counts = [int(value) for sample, _, value, time in samples
              if sample == f"{name}_count" and time == at]  # fmt: skip
    assert buckets == sorted(buckets)
    assert buckets[-1] == counts[0] > 0


def test_the_same_study_gives_the_same_bytes(study: FinishedStudy, tmp_path: Path) -> None:
    first = [path.read_bytes() for path in write_metrics(study, tmp_path / "a")]
    assert first == [path.read_bytes() for path in write_metrics(study, tmp_path / "b")]


def test_a_file_keeps_to_its_limit(
    study: FinishedStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openmetrics, "MOST_BYTES", 400_000)
    monkeypatch.setattr(openmetrics, "LEAST_STEPS", 4)
    for path in write_metrics(study, tmp_path):
        assert 100_000 < path.stat().st_size < 400_000


def test_too_many_points_get_no_files(study: FinishedStudy, tmp_path: Path) -> None:
    study.plan.points.extend({"x": number} for number in range(openmetrics.MOST_POINTS))
    assert write_metrics(study, tmp_path) == []


def test_replications_are_left_out_before_steps_get_too_few(study: FinishedStudy) -> None:
    record = next(iter(study.done.values()))
    assert steps_that_fit([record] * 2, 100) == (2, 1)
    assert steps_that_fit([record] * 20, 34) == (3, 2)
    assert steps_that_fit([record] * 20, 5) == (1, 4)
    assert steps_that_fit([replace(record, simulated_ns=10**12)], 100)[0] == 1


def test_a_bound_is_moved_by_half_a_bucket_at_most() -> None:
    values = np.unique(np.geomspace(1e5, 1e10, 20_000).astype(np.int64)).tolist()
    buckets = np.zeros((1, 62 * 64 + 2), dtype=np.int64)
    for value in values:
        buckets[0, bucket_of(value) + 1] += 1
    bounds_ns = [0.0005 * 2**power * 1e9 for power in range(14)]
    for bound_ns, counted in zip(bounds_ns, up_to(buckets, bounds_ns)[0], strict=True):
        lowest = bisect_right(values, bound_ns / (1 + RELATIVE_ERROR) ** 1.01)
        highest = bisect_right(values, bound_ns * (1 + RELATIVE_ERROR) ** 1.01)
        assert lowest <= counted <= highest


def test_every_published_counter_is_exported() -> None:
    exported = set(facts_of(EVERY).counters)
    assert {counter.fact for counter in COUNTERS.values()} <= exported


def test_all_facts_of_a_unit_are_declared(study: FinishedStudy, finished: Path) -> None:
    for unit in study.done:
        folder = finished / "units" / unit.unit_hash
        for table, declared in (("counter", fact_names.COUNTERS), ("moments", fact_names.SERIES)):
            left = set(pq.read_table(folder / f"{table}.parquet")["metric"].to_pylist())
            assert left <= set(declared)


def test_the_page_on_exports_names_every_metric_of_tikv() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "EXPORTS.md").read_text()
    assert [family.name for family in TIKV_FAMILIES if f"| `{family.name}` |" not in page] == []


def test_what_a_scenario_names_is_escaped() -> None:
    assert label_text({"b": 'a"b\\c\nd', "le": "1.0", "a": "x", "none": ""}) == (
        'a="x",b="a\\"b\\\\c\\nd",le="1.0"'
    )


def test_a_counter_without_total_is_of_unknown_type() -> None:
    assert next(iter(head("tikv_engine_flow_bytes", "counter", "x"))).split()[2:] == [
        "tikv_engine_flow_bytes",
        "unknown",
    ]
    assert "".join(head("pessim_backoff_seconds_total", "counter", "x")) == (
        "# TYPE pessim_backoff_seconds counter\n# UNIT pessim_backoff_seconds seconds\n"
        "# HELP pessim_backoff_seconds x\n"
    )


def test_numbers_are_exact() -> None:
    assert decimal(1_500_000_001, 10**9) == "1.500000001"
    assert decimal(2 * 10**9, 10**9) == "2.0"
    assert decimal(7, 1) == "7"
    assert timestamp(1_735_689_600_001_999_999) == "1735689600.001"
    assert [bound_text(bound) for bound in (0.00001, 0.0005, 1.0)] == ["0.00001", "0.0005", "1.0"]


def test_region_errors_have_the_words_of_client_go() -> None:
    assert region_error_label("NotLeader") == "not_leader"
    assert region_error_label("EpochNotMatch") == "epoch_not_match"
    assert region_error_label("RpcError") is None
