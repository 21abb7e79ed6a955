"""How a case and an objective are called, in tables, figures and sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.metrics.catalogue import METRICS


def case_words(case: Mapping[str, Any]) -> str:
    """Returns ``in_memory on gp3_max``, or ``in_memory at warehouses 500``."""
    values = [
        f"on {value}" if key == "hardware.profile" else f"at {key.rpartition('.')[2]} {value}"
        for key, value in case["point"].items()
    ]
    return " ".join([case["variant"], *values])


def limit_words(objective: Mapping[str, Any]) -> str:
    """Returns the limit of an objective as a reader knows it: ``5 ms``, ``0.1 %``."""
    metric = METRICS[objective["metric"]]
    if metric.is_share:
        return f"{100 * objective['limit']:g} %"
    return f"{objective['limit']:g} {metric.unit}".rstrip()
