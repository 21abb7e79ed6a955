"""Batches: equal parts of a unit's measured time, each with values of its own, after one warm-up.

Law: intervals take a batch for a replication, so batches have to be long against whatever lasts in
the cluster; whoever asks for them must have shown that batches of one unit differ as much as those
of two.

Source: Law, Simulation Modeling and Analysis, 5th ed., 9.5.3 (batch means).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from sim.units import NS_PER_S


def batches_of(units: pd.DataFrame, batches: int) -> pd.DataFrame:
    """Returns a row a batch: those of a unit follow one another, in the order of the units.

    Args:
        units: ``warmup_windows``, ``window_ns``, ``simulated_s``, ``replication``; a row a unit.
        batches: of each unit.

    Returns:
        The same columns with ``first_window``, ``end_window`` and ``measured_s``; ``replication``
        numbers the batches of a case, so that equal numbers of two variants are a pair.
    """
    found = units.loc[units.index.repeat(batches)].reset_index(drop=True)
    batch = np.tile(np.arange(batches), len(units))
    warmup, window_ns = found["warmup_windows"].to_numpy(), found["window_ns"].to_numpy()
    simulated_ns = np.rint(found["simulated_s"].to_numpy() * NS_PER_S).astype(np.int64)
    windows = -(-simulated_ns // window_ns)
    first = first_window(warmup, windows, batch, batches)
    end = first_window(warmup, windows, batch + 1, batches)
    ends_ns = np.minimum(end * window_ns, simulated_ns)
    return found.assign(
        first_window=first,
        end_window=end,
        measured_s=(ends_ns - first * window_ns) / NS_PER_S,
        replication=found["replication"].to_numpy() * batches + batch,
    )


def first_window(warmup: Any, windows: Any, batch: Any, batches: int) -> Any:
    """Returns where a batch begins, and so where the one before it ends; whole numbers, or arrays.

    Args:
        warmup: windows that are left out.
        windows: of the unit.
        batch: its number, from 0; ``batches`` for the end of the last.
        batches: of a unit.
    """
    return warmup + (windows - warmup) * batch // batches
