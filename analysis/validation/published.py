"""Figures that TiDB's documentation publishes of one cluster, as they stand there.

``published.csv`` has a row a table cell pair of pingcap/docs-cn (release-7.5, ``benchmark/``): 3 x
i3.4xlarge for TiKV, 3 x c5.4xlarge for TiDB, clients and HAProxy on a c5.9xlarge. Versions that
were published twice have two rows: their difference is the noise of the method.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Final, Literal

import pandas as pd

from analysis.validation.anchor import Figure

Locks = Literal["pipelined", "in_memory"]
LOCKS: Final[dict[Locks, str]] = {"pipelined": "v5.4.0", "in_memory": "v6.0.0"}
"""How pessimistic locks are taken, with the TPC-C version that stands for it."""

Column = Literal["txn_per_s", "tpmc", "p95_ms"]


@cache
def publications(workload: str, threads: int) -> pd.DataFrame:
    """Returns all lines of a workload (``tpcc``, ``oltp_point_select``) with so many threads."""
    table = pd.read_csv(Path(__file__).with_suffix(".csv"))
    return table[(table["workload"] == workload) & (table["threads"] == threads)]


def published(workload: str, threads: int, column: Column, locks: Locks | None = None) -> Figure:
    """Returns the mean over the publications with the least and the largest of them.

    Without ``locks`` that of all versions, as it is right where no lock is asked for.

    Raises:
        LookupError: if there is none.
    """
    rows = publications(workload, threads)
    if locks is not None:
        rows = rows[rows["locks"] == locks]
    found = rows[column].dropna().tolist()
    if not found:
        raise LookupError(f"no {column} of {workload} with {threads} threads, locks {locks}")
    return _figure(found)


def gains(workload: str, threads: int) -> Figure:
    """Returns tpmC in memory over pipelined, in percent more, within one and the same document.

    Runs of two documents differ by up to 7 % at the same version, so they are not paired.
    """
    rows = publications(workload, threads)
    tpmc = rows.pivot(index="document", columns="locks", values="tpmc").dropna()
    return _figure((100 * (tpmc["in_memory"] / tpmc["pipelined"] - 1)).tolist())


def _figure(values: Sequence[float]) -> Figure:
    return Figure(fmean(values), min(values), max(values))
