"""Answers of Prometheus to range queries: by how much each counter grew in the time asked for.

Law: what is asked for is the counter itself, not a rate of it, so that sums and counts of the same
time can be divided. A counter that falls began anew: what it has then is growth.

Source: Prometheus documentation, HTTP API, range queries; metric types, counters and histograms.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from analysis.calibration.refusal import CalibrationError, read_json

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


def read_stages(path: Path) -> list[Growth]:
    """Returns the growth of every series in a file.

    Raises:
        CalibrationError: if it is no answer to a range query of counters.
    """
    document = read_json(path, _ASK)
    if document.get("status") != "success":
        said = str(document.get("error", document.get("status", "nothing")))[:80]
        raise CalibrationError(path, "status", f"the query failed: {said!r}; ask again")
    data = document.get("data")
    if not isinstance(data, dict) or data.get("resultType") != "matrix":
        raise CalibrationError(path, "data.resultType", f"is no matrix; {_ASK}")
    series = data.get("result")
    if not isinstance(series, list) or not series:
        raise CalibrationError(path, "data.result", "is empty; check the metric's name and time")
    return [_growth(path, f"data.result[{i}]", each) for i, each in enumerate(series)]


def _growth(path: Path, place: str, series: Any) -> Growth:
    labels = series.get("metric") if isinstance(series, dict) else None
    name = labels.get("__name__") if isinstance(labels, dict) else None
    if not isinstance(labels, dict) or not isinstance(name, str):
        raise CalibrationError(path, f"{place}.metric", f"has no name, as rates have none; {_ASK}")
    values = [_value(path, place, pair) for pair in _pairs(path, place, series.get("values"))]
    if len(values) < 2:
        raise CalibrationError(path, f"{place}.values", "has one value; ask for a longer time")
    steps = [after - before for before, after in pairwise(values)]
    by = sum(step if step >= 0 else after for step, after in zip(steps, values[1:], strict=True))
    restarts = sum(step < 0 for step in steps)
    said = {str(key): str(value) for key, value in labels.items() if key != "__name__"}
    return Growth(path, name, said, by, restarts)


def _pairs(path: Path, place: str, values: Any) -> Iterable[Any]:
    if not isinstance(values, list):
        raise CalibrationError(path, f"{place}.values", f"is missing; {_ASK}")
    return values


def _value(path: Path, place: str, pair: Any) -> float:
    try:
        _, text = pair
        value = float(text)
    except (TypeError, ValueError):
        message = "has what is no [time, value]; save the answer as it came"
        raise CalibrationError(path, f"{place}.values", message) from None
    if not math.isfinite(value) or value < 0:
        message = f"has {value}, which no counter can be; check the query"
        raise CalibrationError(path, f"{place}.values", message)
    return value
