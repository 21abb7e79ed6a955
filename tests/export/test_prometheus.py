"""The real thing: promtool makes blocks of a file, Prometheus answers a dashboard's queries."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from analysis.export.csv_tables import WANTED
from analysis.export.families import MadeOf
from analysis.export.openmetrics import START_S, write_metrics
from analysis.export.pessim_families import LATENCY_BOUNDS_S
from analysis.export.tikv_families import SCHEDULER_BOUNDS_S
from analysis.export.unit_course import CounterCourse, read_course
from analysis.study.finished_study import FinishedStudy
from sim.record.histogram import BASE
from tests.export.small_study import read_finished

PROGRAMS = ("promtool", "prometheus")
DEADLINE_S = 400.0
"""Only so that nothing waits for ever."""
MEASURED = "[600ms]"
END_S = START_S + 0.8

pytestmark = pytest.mark.skipif(
    any(shutil.which(program) is None for program in PROGRAMS),
    reason="promtool or prometheus is missing: apt-get install prometheus",
)


class Queries:
    """Asks a Prometheus over HTTP."""

    def __init__(self, port: int) -> None:
        self._base = f"http://127.0.0.1:{port}"

    def is_ready(self) -> bool:
        try:
            with urlopen(f"{self._base}/-/ready") as answer:
                return bool(answer.status == 200)
        except (URLError, ConnectionError):
            return False

    def values(self, expression: str, at_s: float) -> dict[tuple[tuple[str, str], ...], float]:
        """Returns by labels the values of an instant query."""
        asked = urlencode({"query": expression, "time": f"{at_s:.3f}"})
        with urlopen(f"{self._base}/api/v1/query?{asked}") as answer:
            found: dict[str, Any] = json.load(answer)
        assert found["status"] == "success"
        return {
            tuple(sorted(one["metric"].items())): float(one["value"][1])
            for one in found["data"]["result"]
        }

    def value(self, expression: str, at_s: float) -> float:
        """Returns the only value of an instant query."""
        (value,) = self.values(expression, at_s).values()
        return value


@contextmanager
def prometheus(blocks: Path) -> Iterator[Queries]:
    """Runs a server on the loopback interface over blocks that are there."""
    config = blocks.parent / "prometheus.yml"
    config.write_text("{}\n")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["prometheus", f"--config.file={config}", "--storage.tsdb.path", str(blocks),
               "--storage.tsdb.retention.time=100y", "--log.level=error",
               f"--web.listen-address=127.0.0.1:{port}"]  # fmt: skip
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    queries, until_s = Queries(port), time.monotonic() + DEADLINE_S
    try:
        while not queries.is_ready():
            assert server.poll() is None, "prometheus ended at once"
            assert time.monotonic() < until_s, "prometheus does not answer"
            time.sleep(0.05)
        yield queries
    finally:
        server.terminate()
        server.wait()


@pytest.fixture(scope="module", name="served")
def served_study(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Queries]:
    """Returns a Prometheus that has the files of both variants."""
    scratch = tmp_path_factory.mktemp("prometheus")
    blocks = scratch / "data"
    for path in write_metrics(read_finished(finished), scratch):
        done = subprocess.run(
            ["promtool", "tsdb", "create-blocks-from", "openmetrics", str(path), str(blocks)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    with prometheus(blocks) as queries:
        yield queries


def course_of(study: FinishedStudy, finished: Path, variant: str) -> CounterCourse:
    unit, record = next(pair for pair in study.done.items() if pair[0].variant == variant)
    return read_course(finished / "units" / unit.unit_hash, record, 1, WANTED)


def exact_p99_s(course: CounterCourse, metric: str, class_: str, warmup: int) -> float:
    """Returns the 99th percentile after the warm-up, within half a per cent."""
    table = course.buckets[metric, class_]
    up_to = (table[-1] - table[warmup - 1]).cumsum()
    place = int((up_to < 0.99 * up_to[-1]).sum()) - 1
    return float(BASE ** (place - 0.5)) / 1e9


def same_bucket(one_s: float, other_s: float, bounds_s: tuple[float, ...]) -> bool:
    """Returns whether no bound, moved by half a per cent, is between two values."""
    low, high = sorted((one_s, other_s))
    return not any(low * 1.006 < bound < high / 1.006 for bound in bounds_s)


def test_a_rate_is_that_of_the_facts(served: Queries, study: FinishedStudy, finished: Path) -> None:
    course = course_of(study, finished, "in_memory")
    commits = [values for key, values in course.counters.items() if key[0] == "txns"]
    grown = sum(int(values[-1] - values[3]) for values in commits)
    increase = served.value(
        'sum(increase(tidb_session_transaction_duration_seconds_count{variant="in_memory",'
        f'type="commit"}}{MEASURED}))', END_S,
    )  # fmt: skip
    assert increase == pytest.approx(grown, rel=0.11), "rate() extrapolates over half a step"


def test_locks_of_the_dashboards_panel(served: Queries) -> None:
    panel = f"sum(rate(tikv_in_memory_pessimistic_locking{MEASURED})) by (result)"
    assert list(served.values(panel, END_S)) == [(("result", "success"),)]
    stores = served.values("tikv_pessimistic_lock_memory_size", END_S)
    assert {dict(labels)["instance"] for labels in stores} == {"store-1", "store-2", "store-3"}


@pytest.mark.parametrize(
    ("name", "metric", "bounds_s"),
    [
        ("pessim_lock_latency_seconds", "lock_latency", LATENCY_BOUNDS_S),
        ("tikv_scheduler_command_duration_seconds", "lock_service", SCHEDULER_BOUNDS_S),
    ],
)
def test_a_quantile_is_in_the_bucket_of_the_exact_one(
    served: Queries, study: FinishedStudy, finished: Path, name: str, metric: str,
    bounds_s: tuple[float, ...],
) -> None:  # fmt: skip
    wanted = MadeOf(("txns",), (metric,), (metric,))
    unit, record = next(pair for pair in study.done.items() if pair[0].variant == "in_memory")
    course = read_course(finished / "units" / unit.unit_hash, record, 1, wanted)
    exact_s = exact_p99_s(course, metric, "in_memory", record.warmup_windows)
    panel = (
        f'histogram_quantile(0.99, sum(rate({name}_bucket{{variant="in_memory"}}{MEASURED}))'
        " by (le))"
    )
    assert same_bucket(served.value(panel, END_S), exact_s, bounds_s)


def test_replications_add_up_to_nothing_twice(served: Queries, study: FinishedStudy) -> None:
    """A range over both replications has the commits of both, counters' new beginning included."""
    commits = sum(record.transactions for unit, record in study.done.items()
                  if unit.variant == "pipelined")  # fmt: skip
    counted = served.value(
        'sum(increase(pessim_transactions_total{variant="pipelined"}[10s]))', START_S + 1.7
    )
    assert counted == pytest.approx(commits, rel=0.02)
