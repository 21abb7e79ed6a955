"""Answers of Prometheus to range queries: by how much each counter grew in the time asked for.

Law: what is asked for is the counter itself, not a rate of it, so that sums and counts of the same
time can be divided. A counter that falls began anew: what it has then is growth.

Source: Prometheus documentation, HTTP API, range queries; metric types, counters and histograms.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from analysis.calibration.refusal import CalibrationError, JsonValue, read_json

_STAGE = re.compile(r"_(sum|count|bucket)$")
_SAME_TIME: Final = 0.1
"""Part of the time asked for by which two answers may lie apart."""
_ASK = "ask /api/v1/query_range for the counter itself, such as query=tikv_..._sum"


@dataclass(frozen=True, slots=True)
class Growth:
    """One series."""

    path: Path
    name: str
    labels: Mapping[str, str]
    by: float
    """How much the counter grew."""
    restarts: int
    began_s: float = 0.0
    """The time of its first value."""
    ended_s: float = 0.0


def read_stages(path: Path, known: Sequence[str] = ()) -> list[Growth]:
    """Returns the growth of every series in a file.

    Args:
        path: the file.
        known: metrics that are looked for, without _sum, _count and _bucket; empty: all.

    Raises:
        CalibrationError: if it is no answer to a range query of counters, or of none of those.
    """
    document = read_json(path, _ASK)
    status, data = document["status"], document["data"]
    if status.value != "success":
        said = str(document.entries.get("error", status.value or "nothing"))[:80]
        raise status.refusal(f"the query failed: {said!r}; fix it and ask again")
    if data["resultType"].value != "matrix":
        raise data["resultType"].refusal(f"is not a matrix; {_ASK}")
    series = data["result"].elements
    if not series:
        raise data["result"].refusal("is empty; check the metric's name and time")
    wanted = [each for each in series if not known or _STAGE.sub("", _name(each)) in known]
    if not wanted:
        message = f"are none that costs are derived from, such as {known[0]}_sum; ask for those"
        raise data["result"].refusal(message)
    return [_growth(each) for each in wanted]


def together(growths: Iterable[Growth]) -> list[Growth]:
    """Returns the growth of all files, which must be of the same time and of different series.

    Raises:
        CalibrationError: if a sum and its count could be of different times, or be counted twice.
    """
    found = list(growths)
    series: dict[tuple[str, frozenset[tuple[str, str]]], Path] = {}
    labels: dict[str, tuple[Path, set[str]]] = {}
    spans: dict[Path, tuple[float, float]] = {}
    for each in found:
        before = series.setdefault((each.name, frozenset(each.labels.items())), each.path)
        if before != each.path:
            message = f"is in {before} too and would count twice; give each series once"
            raise CalibrationError(each.path, each.name, message)
        before, names = labels.setdefault(each.name, (each.path, set(each.labels)))
        if before != each.path and names != set(each.labels):
            message = f"is in {before} too, with other labels; ask for it in one way only"
            raise CalibrationError(each.path, each.name, message)
        began_s, ended_s = spans.get(each.path, (each.began_s, each.ended_s))
        spans[each.path] = min(began_s, each.began_s), max(ended_s, each.ended_s)
    _check_same_time(spans)
    return found


def _check_same_time(spans: Mapping[Path, tuple[float, float]]) -> None:
    for path, (began_s, ended_s) in spans.items():
        first, (first_s, last_s) = next(iter(spans.items()))
        apart_s = abs(began_s - first_s) + abs(ended_s - last_s)
        if apart_s > _SAME_TIME * (last_s - first_s):
            message = (
                f"is of other {ended_s - began_s:.0f} s than the {last_s - first_s:.0f} s of "
                f"{first}; ask all for the same start and end"
            )
            raise CalibrationError(path, "data.result", message)


def _name(series: JsonValue) -> str:
    name = series["metric"]["__name__"].value
    if not isinstance(name, str):
        raise series["metric"].refusal(f"has no name, as rates have none; {_ASK}")
    return name


def _growth(series: JsonValue) -> Growth:
    given = series["values"]
    if not isinstance(given.value, list):
        raise given.refusal(f"is missing; {_ASK}")
    name, labels = _name(series), series["metric"].entries
    pairs = [_pair(given, pair) for pair in given.value]
    values = [value for _, value in pairs]
    if len(values) < 2:
        raise given.refusal("has one value; ask for a longer time")
    steps = [after - before for before, after in pairwise(values)]
    by = sum(step if step >= 0 else after for step, after in zip(steps, values[1:], strict=True))
    restarts = sum(step < 0 for step in steps)
    said = {str(key): str(value) for key, value in labels.items() if key != "__name__"}
    return Growth(series.path, name, said, by, restarts, pairs[0][0], pairs[-1][0])


def _pair(place: JsonValue, pair: Any) -> tuple[float, float]:
    """Returns time in seconds and value."""
    try:
        time_s, value = (float(each) for each in pair)
    except (TypeError, ValueError):
        message = "has an entry that is not [time, value]; save the answer unchanged"
        raise place.refusal(message) from None
    if not math.isfinite(value) or value < 0 or not math.isfinite(time_s):
        raise place.refusal(f"has {value}, which no counter can be; check the query")
    return time_s, value
