"""Summaries of sweeps, made up, for tests of what shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Point = Mapping[str, Any]
VARIANTS = ("pipelined", "in_memory")
APPEND, THREADS, AMPLIFICATION = (
    "hardware.disk.raft.append.mean", "workload.threads", "hardware.lsm.write_amplification",
)  # fmt: skip
METRICS = (
    ("lock_latency_ms", "mean"),
    ("lock_latency_ms", "p99"),
    ("disk_write_bytes_per_txn", "mean"),
    ("txn_per_s", "mean"),
)


def grid(**axes: Sequence[Any]) -> list[dict[str, Any]]:
    """Returns the product of values of ``append``, ``threads``, ``amplification``."""
    names = {"append": APPEND, "threads": THREADS, "amplification": AMPLIFICATION}
    points: list[dict[str, Any]] = [{}]
    for name, values in axes.items():
        points = [{**point, names[name]: value} for point in points for value in values]
    return points


def half(_: Point) -> float:
    """Returns a ratio that is the same everywhere."""
    return 0.5


def sweep_summary(
    points: Sequence[Point],
    ratio: Callable[[Point], float] = half,
    refused: Callable[[Point, str], bool] = lambda _point, _variant: False,
    variants: Sequence[str] = VARIANTS,
    at_least: Callable[[Point, str], bool] = lambda _point, _variant: False,
) -> dict[str, Any]:
    """Returns a summary with values of 2 for the baseline, intervals of 2 %, and odd rows."""
    rows, comparisons = [], []
    for point in points:
        for metric, stat in METRICS:
            name = {"point": dict(point), "metric": metric, "class": "all", "stat": stat}
            gone = {variant for variant in variants if refused(point, variant)}
            gone = gone if metric.endswith("_ms") else set()
            for variant in variants:
                share = 1.0 if variant == variants[0] else ratio(point)
                row = name | {"variant": variant, "replications": 3, "unit": ""}
                if variant in gone:
                    nothing = {"value": None, "ci_low": None, "ci_high": None}
                    rows.append(row | nothing | {"refused": "2 of 3 replications are overloaded"})
                    continue
                rows.append(row | _with_ends("value", 2.0 * share))
                if metric.endswith("_ms") and at_least(point, variant):
                    rows[-1] |= {"value": 900.0, "ci_low": None, "ci_high": None, "at_least": True}
                    continue
                if variant != variants[0] and not gone & {variant, variants[0]}:
                    pair = name | {"variant": variant, "baseline": variants[0]}
                    comparisons.append(pair | _with_ends("ratio", share))
            rows.append(name | {"class": "new_order", "variant": variants[0], "replications": 3}
                        | _with_ends("value", 77.0))  # fmt: skip
    return {"study": "made up", "rows": rows, "comparisons": comparisons, "expectations": []}


def _with_ends(name: str, value: float) -> dict[str, float]:
    return {name: value, "ci_low": 0.98 * value, "ci_high": 1.02 * value}
