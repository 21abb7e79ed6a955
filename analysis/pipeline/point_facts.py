"""The facts of a point that gets figures, on one executor, and the bins that its course has.

A bin is a whole number of windows, so its histogram is the exact sum of theirs. Units of a point
have bins of the same length: few where nothing happens, more where something does.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from analysis.pipeline.aggregate import read_facts, with_columns
from sim.record.facts import EVENT

QUIET_BINS: Final = 60
EVENTFUL_BINS: Final = 240
"""A course has from so many bins to twice as many; events last shorter than what settles."""

Numbers = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class DrawnUnit:
    """A finished unit of a point that gets figures."""

    unit_hash: str
    variant: str
    warmup_windows: int
    window_ns: int
    simulated_s: float
    verdict: str


@dataclass(frozen=True)
class PointFacts:
    """Facts of all units of a point; a unit's number is its place among them."""

    units_dir: str
    units: Sequence[DrawnUnit]

    def read(self, table: str, metrics: Collection[str] | None = None) -> pa.Table:
        """Returns the facts of all units, warm-up included, with ``unit`` and ``variant``."""
        return pa.concat_tables(
            with_columns(
                read_facts(Path(self.units_dir) / unit.unit_hash, table, metrics),
                unit=np.int32(number),
                variant=unit.variant,
            )
            for number, unit in enumerate(self.units)
        )

    def in_bins(self, facts: pa.Table) -> pa.Table:
        """Returns the facts with ``bin`` and ``bin_s``, the bin's length."""
        unit = unit_of(facts)
        bins = facts["window"].to_numpy() // self.bin_windows[unit]
        return with_columns(facts, bin=bins, bin_s=self.bin_s[unit])

    @cached_property
    def events(self) -> pa.Table:
        """What was done to the cluster in all units."""
        return self.read(EVENT)

    @cached_property
    def longest_s(self) -> float:
        """Simulated seconds of the longest unit."""
        return max(unit.simulated_s for unit in self.units)

    @cached_property
    def window_ns(self) -> Numbers:
        """By unit."""
        return np.array([unit.window_ns for unit in self.units])

    @cached_property
    def windows(self) -> Numbers:
        """How many windows of each unit the longest one is long."""
        return self.longest_s * 1e9 / self.window_ns

    @cached_property
    def bin_windows(self) -> Numbers:
        """By unit, how many windows make a bin."""
        bins = EVENTFUL_BINS if self.events.num_rows else QUIET_BINS
        return np.maximum(1, np.floor(self.windows / bins)).astype(np.int64)

    @cached_property
    def bin_s(self) -> Numbers:
        """By unit, how long a bin is."""
        return self.bin_windows * self.window_ns / 1e9

    def replications(self, table: pa.Table) -> Numbers:
        """Returns for each row how many units its variant has."""
        variants = [unit.variant for unit in self.units]
        of_variant = {variant: variants.count(variant) for variant in variants}
        return np.array([of_variant[name] for name in table["variant"].to_pylist()], dtype=np.int64)


def unit_of(facts: pa.Table) -> Numbers:
    """Returns the number of each row's unit."""
    return np.asarray(facts["unit"].to_numpy())
