"""What is said of those that had not ended and of the longest fits together."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pandas as pd
import pytest

from analysis.metrics.row_table import RowTable
from analysis.metrics.unit_metrics import FACT_KEY
from analysis.page.failures import failures
from analysis.page.findings import Findings
from analysis.study.run import RunSection

NAN = float("nan")
Greatest = dict[str, list[float]]


def findings(figures: dict[tuple[str, str], float], greatest_ms: Greatest) -> Findings:
    """Returns a study of one variant.

    Args:
        figures: by metric and statistic.
        greatest_ms: by fact, a value a replication.
    """
    rows = [
        {
            "metric": metric, "class": "all", "stat": stat, "point": {}, "variant": "now",
            "value": value, "ci_low": value, "ci_high": value, "replications": 2,
        }
        for (metric, stat), value in figures.items()
    ]  # fmt: skip
    names = pd.MultiIndex.from_tuples([(of, "all", "max") for of in greatest_ms], names=FACT_KEY)
    values = pd.DataFrame(greatest_ms).to_numpy() * 1e6
    tables = SimpleNamespace(
        sums=pd.DataFrame(values, columns=names),
        batches=pd.DataFrame({"point_index": [0, 0], "variant": ["now", "now"]}),
    )
    study = SimpleNamespace(
        variants={"now": {}}, resolved_yaml=lambda: "{}", run=RunSection(batches=1)
    )
    run = SimpleNamespace(study=study, plan=SimpleNamespace(points=[{}]))
    summary: dict[str, Any] = {
        "rows": RowTable.from_rows(rows, [{}]), "comparisons": [], "expectations": [],
    }  # fmt: skip
    return Findings(cast(Any, run), summary, cast(Any, tables), [])


LEFT = {
    ("txns_unfinished", "mean"): 0.5,
    ("txn_unfinished_age_ms", "max"): 1280.0,
    ("txn_latency_ms", "p99"): 12.0,
    ("txn_latency_ms", "max"): 646.0,
}


@pytest.mark.parametrize(
    ("longest", "said"),
    [([12.0, 1280.0], "more than 1,280 ms"), ([12.0, 1500.0], "1,500 ms")],
)
def test_the_longest_is_no_shorter_than_the_oldest(longest: list[float], said: str) -> None:
    found = findings(LEFT, {"txn_unfinished": [NAN, 1280.0], "txn_latency": longest})
    assert failures(found, 0, ["now"]) == (
        "In a run, on average, no lock was lost and no transaction failed. At the end of a run, on "
        "average, 0.5 transactions had not ended, the oldest after 1.28 s. The longest transaction "
        f"took {said}."
    )


@pytest.mark.parametrize(
    ("committed", "said"),
    [(0.0, "No transaction began in the time measured."), (3.0, "All had ended with the run.")],
)
def test_that_all_had_ended_is_not_said_of_nothing(committed: float, said: str) -> None:
    figures = {("disk_write_bytes_per_s", "mean"): 0.0}
    if committed:  # Without a transaction there is no such figure.
        figures["txn_per_s", "mean"] = committed
    found = findings(figures, {})
    assert failures(found, 0, ["now"]).endswith(f"no transaction failed. {said}")
