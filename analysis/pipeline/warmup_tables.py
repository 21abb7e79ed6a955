"""Throughput and latency of each replication over simulated time: what its warm-up was cut from."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from analysis.pipeline.aggregate import numbers, totals, with_columns
from analysis.pipeline.point_facts import PointFacts, unit_of
from sim.record.facts import COUNTER, MOMENTS

MOST_BINS: Final = 100
"""Of a replication: a panel is no wider."""
LOCKS: Final = "lock_latency"
COMMITS: Final = "txns"


def warmup_series(facts: PointFacts) -> pa.Table:
    """Returns mean lock latency and committed transactions by bin of windows, warm-up included.

    Returns:
        ``unit_hash``, ``metric`` (``lock_latency`` in ms, ``txns`` per second), ``at_s`` (the
        middle of the bin), ``value``; a bin without a lock or a commit is absent, as is a last one
        cut short.
    """
    locks = _by_bin(facts, facts.read(MOMENTS, (LOCKS,)), "sum", "count")
    commits = _by_bin(facts, facts.read(COUNTER, (COMMITS,)), "value")
    mean_ms = numbers(locks["sum"]) / numbers(locks["count"]) / 1e6
    per_s = numbers(commits["value"]) / commits["bin_s"].to_numpy()
    parts = [with_columns(locks, value=mean_ms), with_columns(commits, value=per_s)]
    found = pa.concat_tables([part.select(["unit", "metric", "at_s", "value"]) for part in parts])
    hashes = pa.array([unit.unit_hash for unit in facts.units])
    named = with_columns(found, unit_hash=hashes.take(found["unit"].combine_chunks()))
    return named.drop_columns(["unit"])


def _by_bin(facts: PointFacts, rows: pa.Table, *summed: str) -> pa.Table:
    """Sums columns by unit and whole bin, and adds ``bin_s`` and ``at_s``."""
    simulated_s = np.array([unit.simulated_s for unit in facts.units])
    windows = np.floor(simulated_s * 1e9 / facts.window_ns + 1e-6).astype(np.int64)
    bin_windows = np.maximum(1, -(-windows // MOST_BINS))
    unit = unit_of(rows)
    place = rows["window"].to_numpy() // bin_windows[unit]
    whole = (place + 1) * bin_windows[unit] <= windows[unit]
    placed = with_columns(rows, bin=place).filter(pa.array(whole))
    found = totals(placed, ("unit", "metric", "bin"), **dict.fromkeys(summed, "sum"))
    bin_s = bin_windows[unit_of(found)] * (facts.window_ns / 1e9)[unit_of(found)]
    return with_columns(found, bin_s=bin_s, at_s=(found["bin"].to_numpy() + 0.5) * bin_s)
