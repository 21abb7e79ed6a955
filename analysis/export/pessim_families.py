"""Facts that no metric of TiKV or TiDB says as they are, as metrics with names of their own.

A class such as ``raft_log/commit`` is cut at its slash (``fallback:full`` at its colon), one label
a part.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from analysis.export.families import Buckets, Family, Labels, Total, exponential_bounds_s
from sim.fact_names import COUNTERS, SERIES, Fact
from sim.units import NS_PER_S

LATENCY_BOUNDS_S: Final = exponential_bounds_s(0.0001, 2**0.5, 34)
"""100 us to 9.3 s; a quantile read off it is within 41 % even without interpolation."""

WAIT_BOUNDS_S: Final = exponential_bounds_s(0.0001, 2.0, 21)
"""100 us to 105 s: beyond ``innodb_lock_wait_timeout``."""

NOT_EXPORTED: Final = frozenset({
    "engine_events", "store_messages",  # the simulation's own cost
    "amended_prewrites", "commit_rpcs", "leaders_gained", "leaders_lost", "lock_rpcs",
    "prewrite_rpcs", "region_errors",  # under TiKV's names
})  # fmt: skip
"""Counters that have no name of their own here."""

_SERIES: Final = ("lock_latency", "lock_service", "lock_wait", "leader_transfer", "own_latch_wait")
_CALLED: Final = {
    "locks_total": "locks_granted",
    "txns_started": "transactions_started",
    "txns": "transactions",
    "txn_aborts": "transaction_aborts",
    "disk_write_bytes": "disk_written_bytes",
    "busy_ns": "station_busy_ns",
    "capacity_ns": "station_capacity_ns",
}
"""Names of counters for readers who do not know the facts."""


def _cut(names: tuple[str, ...], _fact: str, class_: str) -> Labels:
    if not names:
        return {}
    parts = re.split("[/:]", class_, maxsplit=len(names) - 1) if len(names) > 1 else [class_]
    return dict(zip(names, [*parts, *[""] * len(names)], strict=False))


def _series(fact: str, of: Fact) -> Family:
    bounds_s = LATENCY_BOUNDS_S if fact == "lock_latency" else WAIT_BOUNDS_S
    buckets = Buckets.of(fact, bounds_s)
    return Family(f"pessim_{fact}_seconds", of.meaning, "pessim", buckets, partial(_cut, of.parts))


def _counter(fact: str, of: Fact) -> Family:
    name = re.sub("_ns$", "_seconds", _CALLED.get(fact, fact))
    total = Total((fact,), divisor=NS_PER_S if fact.endswith("_ns") else 1)
    return Family(f"pessim_{name}_total", of.meaning, "pessim", total, partial(_cut, of.parts))


PESSIM_FAMILIES: Final = (
    *(_series(fact, SERIES[fact]) for fact in _SERIES),
    *(_counter(fact, of) for fact, of in COUNTERS.items() if fact not in NOT_EXPORTED),
)
