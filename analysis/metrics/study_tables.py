"""All tables of a study: what numbers, figures and pages are made of."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd


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
