"""What figures of a point are made of: asked of one executor, which reads all its units' facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from analysis.pipeline.course_tables import courses, happenings
from analysis.pipeline.plot_tables import latency_heat, region_moves, tails, warmup_series
from analysis.pipeline.point_facts import DrawnUnit, PointFacts


class FigureTables(NamedTuple):
    """Tables of a point, each named after the function that makes it."""

    courses: pa.Table
    happenings: pa.Table
    warmups: pa.Table
    tails: pa.Table
    heat: pa.Table
    moves: pa.Table


def figure_tables(units_dir: str, units: Sequence[DrawnUnit]) -> FigureTables:
    """Reads the facts of a point's units and returns its tables."""
    facts = PointFacts(units_dir, units)
    return FigureTables(
        courses=courses(facts),
        happenings=happenings(facts),
        warmups=warmup_series(facts),
        tails=tails(facts),
        heat=latency_heat(facts),
        moves=region_moves(facts),
    )
