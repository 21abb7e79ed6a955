"""All tables of a study: what numbers, figures and pages are made of."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from analysis.metrics.course_lines import Course


@dataclass(frozen=True, slots=True)
class StudyTables:
    """What reaches the driver of a study's facts."""

    units: pd.DataFrame
    """One row a unit: hash, point, variant, replication, warm-up, measured seconds, events."""
    batches: pd.DataFrame
    """One row a batch, from ``batches_of``: what ``units`` says of its unit, and its windows."""
    sums: pd.DataFrame
    """Sums of facts, a row a batch, from ``read_unit_sums``."""
    courses: pd.DataFrame
    """Latencies, rates and levels by bin; like those that follow, of points that get figures."""
    happenings: pd.DataFrame
    """What was done to the cluster, by bin."""
    warmups: pd.DataFrame
    """Throughput and latency of each replication by bin, from ``warmup_series``."""
    tails: pd.DataFrame
    """Shares of latencies above a bound and how replications differ, from ``plot_tables``."""
    heat: pd.DataFrame
    """Lock latency by time, from ``latency_heat``."""
    moves: pd.DataFrame
    """Leaders and regions that changed by bin, from ``region_moves``."""
    facts_s: float
    """Seconds that executors took to read the facts and to answer."""

    def at_point(self, index: int) -> StudyTables:
        """Returns what the tables have of one point."""

        def cut(table: pd.DataFrame) -> pd.DataFrame:
            return table[table["point_index"] == index]

        here = (self.batches["point_index"] == index).to_numpy()
        return StudyTables(
            units=cut(self.units).reset_index(drop=True),
            batches=cut(self.batches).reset_index(drop=True),
            sums=self.sums[here].reset_index(drop=True),
            courses=cut(self.courses),
            happenings=cut(self.happenings),
            warmups=cut(self.warmups),
            tails=cut(self.tails),
            heat=cut(self.heat),
            moves=cut(self.moves),
            facts_s=self.facts_s,
        )

    @property
    def course(self) -> Course:
        """What happened over time, of the tables of one point."""
        return Course(self.courses, self.units, self.happenings)
