"""Latencies in fio's JSON: counts by nanosecond, or percentiles alone, and what cannot be.

Source: fio documentation, HOWTO, "JSON+ output": bins are latencies in nanoseconds and counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from analysis.calibration.histogram import Histogram, from_bins, from_percentiles
from analysis.calibration.refusal import CalibrationError, JsonValue

FEWEST: Final = 1_000
"""Latencies below which nothing is known of the 99.9 % quantile."""
_LONGEST_NS: Final = 60 * 10**9
MOST: Final = 1e12
"""Bytes per second, and anything else that fio counts."""


def latency_of(measured: JsonValue) -> Histogram:
    """Returns the latencies of one section of a job.

    Raises:
        CalibrationError: if they cannot be.
    """
    found = measured["lat_ns"]
    if "clat_ns" in measured.entries and not (found["bins"].value or found["percentile"].value):
        found = measured["clat_ns"]
    count, low, high, mean = (found[key].number(MOST) for key in ("N", "min", "max", "mean"))
    if not 0 <= low <= mean <= high or count < 1:
        message = "needs 0 <= min <= mean <= max and N > 0; the file is damaged, run fio again"
        raise found.refusal(message)
    if high > _LONGEST_NS:
        message = f"has a max of {high / 1e9:.3g} s, more than a minute; is it in nanoseconds?"
        raise found.refusal(message)
    bins = {_whole(found, k): _whole(found, v) for k, v in found["bins"].entries.items()}
    if bins:
        if sum(bins.values()) <= 0 or min(bins) < low * 0.9 - 64 or max(bins) > high * 1.1 + 64:
            message = "lie outside of min and max; units are mixed or the file is damaged"
            raise found["bins"].refusal(message)
        return from_bins(bins, mean, int(low), int(high))
    known = found["percentile"]
    percentiles = {_rank(known, key): _whole(found, value) for key, value in known.entries.items()}
    if not percentiles:
        raise found.refusal(f"has neither bins nor percentile; {found.remedy}")
    values = [percentiles[key] for key in sorted(percentiles)]
    if values != sorted(values):
        raise known.refusal("do not ascend; run fio again")
    return from_percentiles(percentiles, int(count), mean, int(low), int(high))


def together(path: Path, latencies: Sequence[Histogram]) -> Histogram:
    """Returns the latencies of all jobs as one.

    Raises:
        CalibrationError: if they are too few, or percentiles of several.
    """
    count = sum(each.count for each in latencies)
    if count < FEWEST:
        message = f"{count} latencies are too few for p99.9; run until there are {FEWEST:,}"
        raise CalibrationError(path, "jobs", message)
    if len(latencies) == 1:
        return latencies[0]
    if any(each.coarse for each in latencies):
        message = "several jobs without bins cannot be added up; use --output-format=json+"
        raise CalibrationError(path, "jobs", message)
    bins: dict[int, int] = {}
    for each in latencies:
        before = 0
        for value, reached in zip(each.values_ns, each.reached, strict=True):
            so_far = round(reached * each.count)
            bins[value] = bins.get(value, 0) + so_far - before
            before = so_far
    mean = sum(each.mean_ns * each.count for each in latencies) / count
    low, high = min(each.min_ns for each in latencies), max(each.max_ns for each in latencies)
    return from_bins(bins, mean, low, high)


def _rank(known: JsonValue, key: str) -> float:
    try:
        rank = float(key)
    except ValueError:
        rank = math.nan
    if not 0 <= rank <= 100:
        raise known.refusal(f"has {key[:20]!r}; run fio again")
    return rank


def _whole(found: JsonValue, value: Any) -> int:
    try:
        number = int(value)
        float(number)
    except (TypeError, ValueError, OverflowError):
        raise found.refusal("has a value that is not a whole number; run fio again") from None
    if not 0 <= number <= MOST:
        raise found.refusal(f"has {number:.20g}, which cannot be; run fio again")
    return number
