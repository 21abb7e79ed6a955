"""Reads ``throughput.csv``: throughput and p95 by workload, version and number of threads."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Final, Literal

from analysis.validation.anchor import Figure

REPOSITORY: Final = "pingcap/docs-cn, release-7.5, benchmark/"
_FILE: Final = Path(__file__).with_name("throughput.csv")

Locks = Literal["pipelined", "in_memory"]
LOCKS: Final[dict[Locks, str]] = {"pipelined": "v5.4.0", "in_memory": "v6.0.0"}
"""How pessimistic locks are taken, with the TPC-C version that stands for it."""

Column = Literal["txn_per_s", "tpmc", "p95_ms"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """One line of one published table; None: the table has no such column."""

    document: str
    version: str
    locks: str
    workload: str
    threads: int
    txn_per_s: float | None
    tpmc: float | None
    p95_ms: float | None


@cache
def publications(workload: str, threads: int) -> tuple[Publication, ...]:
    """Returns all lines of a workload (``tpcc``, ``oltp_point_select``) with so many threads."""
    with _FILE.open(encoding="utf-8", newline="") as lines:
        rows = [_publication(row) for row in csv.DictReader(lines)]
    return tuple(row for row in rows if (row.workload, row.threads) == (workload, threads))


def published(workload: str, threads: int, column: Column, locks: Locks | None = None) -> Figure:
    """Returns the mean over the publications with the least and the largest of them.

    Without ``locks`` that of all versions, as it is right where no lock is asked for.

    Raises:
        LookupError: if there is none.
    """
    found = [
        value
        for row in publications(workload, threads)
        if locks in {None, row.locks} and (value := getattr(row, column)) is not None
    ]
    if not found:
        raise LookupError(f"no {column} of {workload} with {threads} threads, locks {locks}")
    return _figure(found)


def gains(workload: str, threads: int) -> Figure:
    """Returns tpmC in memory over pipelined, in percent more, within one and the same document.

    Runs of two documents differ by up to 7 % at the same version, so they are not paired.
    """
    tpmc = {(row.document, row.locks): row.tpmc for row in publications(workload, threads)}
    return _figure(
        [
            100 * (new / old - 1)
            for (document, locks), new in tpmc.items()
            if locks == "in_memory" and new and (old := tpmc.get((document, "pipelined")))
        ]
    )


def _figure(values: Sequence[float]) -> Figure:
    return Figure(fmean(values), min(values), max(values))


def _publication(row: dict[str, str]) -> Publication:
    return Publication(
        document=row["document"],
        version=row["version"],
        locks=row["locks"],
        workload=row["workload"],
        threads=int(row["threads"]),
        txn_per_s=_number(row["txn_per_s"]),
        tpmc=_number(row["tpmc"]),
        p95_ms=_number(row["p95_ms"]),
    )


def _number(text: str) -> float | None:
    return float(text) if text else None
