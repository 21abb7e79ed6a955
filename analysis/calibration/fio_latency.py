"""Latencies in fio's JSON: counts by nanosecond, or percentiles alone, and what cannot be.

Source: fio documentation, HOWTO, "JSON+ output": bins are latencies in nanoseconds and counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from analysis.calibration.histogram import Histogram, from_bins, from_percentiles
from analysis.calibration.refusal import CalibrationError

FEWEST: Final = 1_000
"""Latencies below which nothing is known of the 99.9 % quantile."""
_LONGEST_NS: Final = 60 * 10**9
_MOST: Final = 1e12
"""Bytes per second, and anything else that fio counts."""
MAKE_ONE: Final = "run fio 3 with --output-format=json+ --output=FILE"


def latency_of(path: Path, place: str, job: Mapping[str, Any], section: str) -> Histogram:
    """Returns the latencies of one job.

    Raises:
        CalibrationError: if they cannot be; ``place`` is where they are.
    """
    measured = mapping(job.get(section))
    name = "lat_ns"
    if not any(mapping(measured.get(name)).get(key) for key in ("bins", "percentile")):
        name = "clat_ns" if "clat_ns" in measured else name
    found = mapping(measured.get(name))
    place = f"{place}.{name}"
    count, low, high, mean = (
        number_of(path, place, found, key) for key in ("N", "min", "max", "mean")
    )
    if not 0 <= low <= mean <= high or count < 1:
        message = "needs 0 <= min <= mean <= max and N > 0; the file is damaged, run fio again"
        raise CalibrationError(path, place, message)
    if high > _LONGEST_NS:
        message = f"has a max of {high / 1e9:.3g} s, more than a minute; is it in nanoseconds"
        raise CalibrationError(path, place, f"{message}?")
    bins = {_whole(path, place, k): _whole(path, place, v) for k, v in _items(found, "bins")}
    if bins:
        if sum(bins.values()) <= 0 or min(bins) < low * 0.9 - 64 or max(bins) > high * 1.1 + 64:
            message = "lie outside of min and max; units are mixed or the file is damaged"
            raise CalibrationError(path, f"{place}.bins", message)
        return from_bins(bins, mean, int(low), int(high))
    percentiles = {
        _rank(path, place, key): _whole(path, place, value)
        for key, value in _items(found, "percentile")
    }
    if not percentiles:
        message = f"has neither bins nor percentile; {MAKE_ONE}"
        raise CalibrationError(path, place, message)
    values = [percentiles[key] for key in sorted(percentiles)]
    if values != sorted(values):
        raise CalibrationError(path, f"{place}.percentile", "do not ascend; run fio again")
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


def mapping(value: Any) -> Mapping[str, Any]:
    """Returns a mapping, or an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}


def _items(found: Mapping[str, Any], name: str) -> Sequence[tuple[Any, Any]]:
    return list(mapping(found.get(name)).items())


def number_of(path: Path, place: str, found: Any, name: str) -> float:
    """Returns a number of 0 or more.

    Raises:
        CalibrationError: if there is none.
    """
    value = mapping(found).get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise CalibrationError(path, f"{place}.{name}", f"is not a number; {MAKE_ONE}")
    if not 0 <= value <= _MOST:
        raise CalibrationError(path, f"{place}.{name}", f"is {value:g}, which cannot be; run again")
    return float(value)


def _rank(path: Path, place: str, key: str) -> float:
    try:
        rank = float(key)
    except ValueError:
        rank = math.nan
    if not 0 <= rank <= 100:
        raise CalibrationError(path, f"{place}.percentile", f"has {key[:20]!r}; run fio again")
    return rank


def _whole(path: Path, place: str, value: Any) -> int:
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        raise CalibrationError(
            path, place, "has a value that is not a whole number; run again"
        ) from None
    if number < 0:
        raise CalibrationError(path, place, f"has {number}, which cannot be; run again")
    return number
