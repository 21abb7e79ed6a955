"""A study's facts as tables: of all its points, or of one over simulated time."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
import pandas as pd


@dataclass(frozen=True, slots=True)
class Course:
    """What happened at one point, by bin.

    Attributes:
        table: ``variant``, ``metric``, ``class``, ``bin``, ``bin_s``, ``stat``, ``value``, ``low``,
            ``high``.
        units: ``variant``, ``window_ns``, ``warmup_windows``, ``simulated_s``.
        happenings: ``kind``, ``detail``, ``from_ns``, ``until_ns``, ``times``, ``units``.
    """

    table: pd.DataFrame
    units: pd.DataFrame
    happenings: pd.DataFrame

    @property
    def span_s(self) -> float:
        """Simulated time of the longest replication."""
        return float(self.units["simulated_s"].max())

    @property
    def bin_s(self) -> float:
        """Length of a bin."""
        return float(self.table["bin_s"].iloc[0])

    @property
    def bins(self) -> int:
        """Bins that are whole; the last one may be cut, and is left out."""
        return int(self.span_s / self.bin_s + 1e-9)

    @property
    def warmup_s(self) -> float:
        """Where the longest warm-up of the replications ends."""
        return float((self.units["warmup_windows"] * self.units["window_ns"]).max()) / 1e9

    def stats(self, metric: str) -> set[str]:
        """Returns the statistics that there are of a metric."""
        return set(self.table.loc[self.table["metric"] == metric, "stat"])

    def line(self, variant: str, metric: str, stat: str, class_: str = "all") -> pd.DataFrame:
        """Returns a line by ascending time: ``at_s``, ``value``, ``low``, ``high``.

        A bin without a value is a gap: its row has none. The last bin is left out if it is cut. The
        line is empty if there is no value at all.
        """
        table = self.table
        rows = table[
            (table["variant"] == variant)
            & (table["metric"] == metric)
            & (table["stat"] == stat)
            & (table["class"] == class_)
        ]
        if rows.empty:
            return rows.assign(at_s=[])[["at_s", "value", "low", "high"]]
        bins = pd.RangeIndex(self.bins, name="bin")
        spread = rows.set_index("bin")[["value", "low", "high"]].reindex(bins)
        return spread.assign(at_s=(np.asarray(bins) + 0.5) * self.bin_s)

    def has(self, metric: str) -> bool:
        """Returns whether anything but zero was seen of a metric."""
        return bool((self.table.loc[self.table["metric"] == metric, "value"] > 0).any())


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
        here = (self.batches["point_index"] == index).to_numpy()
        tables = {each.name: getattr(self, each.name) for each in fields(self)}
        cut = {
            name: table[table["point_index"] == index].reset_index(drop=True)
            for name, table in tables.items()
            if name not in {"sums", "facts_s"}
        }
        return replace(self, **cut, sums=self.sums[here].reset_index(drop=True))

    @property
    def course(self) -> Course:
        """What happened over time, of the tables of one point."""
        return Course(self.courses, self.units, self.happenings)
