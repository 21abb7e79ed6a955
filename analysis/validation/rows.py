"""Judged anchors for machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from analysis.validation.anchor import Judged
from analysis.validation.table import in_band, mean_error, predicted


def rows(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """Returns a row an anchor: what it is, both figures with their spread, error and verdict."""
    return [
        {
            "anchor": each.anchor.name,
            "kind": each.anchor.kind,
            "conditions": each.anchor.conditions,
            "source": each.anchor.source,
            "unit": each.anchor.unit,
            "standing": each.anchor.standing,
            "theirs": asdict(each.anchor.theirs),
            "ours": None if each.ours is None else asdict(each.ours),
            "error": each.error,
            "band": each.anchor.band.around(each.anchor.theirs),
            "verdict": each.verdict,
            "reason": each.reason,
        }
        for each in judged
    ]


def verdict(judged: Sequence[Judged]) -> dict[str, float | None]:
    """Returns what the anchors come to: how many, how many in band, mean error of predictions."""
    return {
        "anchors": len(judged),
        "in_band": in_band(judged),
        "error_of_predicted": mean_error(predicted(judged)),
    }
