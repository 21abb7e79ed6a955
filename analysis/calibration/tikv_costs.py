"""CPU costs of TiKV's stations from the growth of its own metrics, as far as they tell.

Law: a cost is CPU time, or time that somebody worked, divided by how often. Threads' CPU seconds
give it exactly; stage histograms hold waiting as well, so what is left of a stage after the waits
that are known is an upper end. What neither gives stays as it is, and is said.

Sums are never guessed from buckets: those are powers of two apart, and a cost is a difference.

Source: tikv/tikv src/storage/metrics.rs, components/raftstore/src/store/metrics.rs;
metrics/grafana/tikv_details.dashboard.py (threads by name).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from analysis.calibration.prometheus_file import Growth

FEWEST: Final = 1_000
"""Events below which a mean says little."""
REPLICAS: Final = 3
"""ASSUMED: of each region; every one applies every command."""
_CPU: Final = "tikv_thread_cpu_seconds_total"
_LONGEST_NS: Final = 50 * 10**6
"""A step of a command that takes longer than this worked in milliseconds, or waited."""

_COMMAND: Final = "tikv_scheduler_command_duration_seconds"
_LATCH: Final = "tikv_scheduler_latch_wait_duration_seconds"
_ASYNC: Final = "tikv_storage_engine_async_request_duration_seconds"
_APPLY: Final = "tikv_raftstore_apply_log_duration_seconds"
_IN_RAFT: Final = "normal|conf_change|transfer_leader"
_PROPOSALS: Final = f"{_IN_RAFT}|local_read|read_index|unsafe_read_index"
"""Types of proposals: ``all`` counts each of them once more, ``batch`` what went into others."""
_SENT: Final = "tikv_raftstore_raft_sent_message_total"
_PROPOSED: Final = "tikv_raftstore_proposal_total"
KNOWN: Final = (_COMMAND, _LATCH, _ASYNC, _APPLY, _CPU, _SENT, _PROPOSED)
"""Metrics that costs are derived from; histograms have their _sum and _count."""


@dataclass(frozen=True, slots=True)
class Cost:
    """One key of ``hardware.cpu``: what was found, or what is missing."""

    key: str
    cost_ns: int | None
    why: str
    """From what it was derived, or what would be needed."""


class _Totals:
    """Growth by metric, all series of a cluster together."""

    def __init__(self, growths: Sequence[Growth]) -> None:
        self._growths = growths

    def of(self, name: str, labels: str = ".*", *, label: str = "type") -> float | None:
        """Returns the growth of a metric whose label matches, or None if it is not there."""
        found = [
            growth.by
            for growth in self._growths
            if growth.name == name and re.fullmatch(labels, growth.labels.get(label, ""))
        ]
        return sum(found) if found else None

    def seconds(self, stage: str, labels: str = ".*") -> float | None:
        """Returns the seconds that a histogram saw."""
        return self.of(f"{stage}_sum", labels)

    def count(self, stage: str) -> float | None:
        """Returns how often a histogram was added to."""
        counted = self.of(f"{stage}_count")
        return self.of(f"{stage}_bucket", r"\+Inf", label="le") if counted is None else counted


def costs_of(growths: Sequence[Growth]) -> list[Cost]:
    """Returns what the growth of TiKV's metrics says of each CPU cost."""
    totals = _Totals(growths)
    return [_request(totals), _message(totals), _apply(totals), *_UNTOLD]


_UNTOLD: Final = (
    Cost("tikv_background", None, "no metric tells network and compaction apart by request"),
    Cost("apply_key", None, "no metric counts keys and time of the apply threads together"),
    Cost("thread_hop", None, "no metric measures waking a thread"),
)


def _request(totals: _Totals) -> Cost:
    """A command's time without latch, snapshot and replication: what its thread worked, at most."""
    key = "tikv_request"
    spent, count = totals.seconds(_COMMAND), totals.count(_COMMAND)
    waits = [totals.seconds(_LATCH), totals.seconds(_ASYNC, "snapshot"),
             totals.seconds(_ASYNC, "write")]  # fmt: skip
    if spent is None or count is None or any(wait is None for wait in waits):
        return Cost(
            key,
            None,
            f"needs {_COMMAND}, {_LATCH} and {_ASYNC} (snapshot, write), each _sum and _count",
        )
    left = spent - sum(wait for wait in waits if wait is not None)
    return _cost(key, left, count, "commands less latch, snapshot and write; an upper end")


def _message(totals: _Totals) -> Cost:
    key = "store_message"
    spent = totals.of(_CPU, r"(raftstore|rs)_.*", label="name")
    sent, proposed = totals.of(_SENT), totals.of(_PROPOSED, _PROPOSALS)
    if spent is None or sent is None or proposed is None:
        return Cost(
            key, None, f"needs {_CPU}{{name=~'(raftstore|rs)_.*'}}, {_SENT}, {_PROPOSED} by type"
        )
    return _cost(key, spent, sent + proposed, "CPU of the store pollers by messages and proposals")


def _apply(totals: _Totals) -> Cost:
    key = "apply_command"
    spent, proposed = totals.of(_CPU, "apply_.*", label="name"), totals.of(_PROPOSED, _IN_RAFT)
    if spent is not None and proposed is not None:
        why = f"CPU of the apply threads by proposals on {REPLICAS} replicas, keys included"
        return _cost(key, spent, proposed * REPLICAS, why)
    worked, count = totals.seconds(_APPLY), totals.count(_APPLY)
    if worked is None or count is None:
        why = f"needs {_CPU}{{name=~'apply_.*'}} and {_PROPOSED} by type, or {_APPLY}"
        return Cost(key, None, f"{why} (_sum, _count)")
    return _cost(key, worked, count, "time to apply a batch of a region; an upper end")


def _cost(key: str, seconds: float, count: float, why: str) -> Cost:
    if count < FEWEST:
        return Cost(key, None, f"{count:.0f} events are too few; ask for a longer time")
    mean_ns = seconds / count * 1e9
    if not 1 <= mean_ns <= _LONGEST_NS:
        message = f"{seconds:.3g} s of {count:.0f} events cannot be; check units and labels"
        return Cost(key, None, message)
    return Cost(key, round(mean_ns), f"{why}; {count:,.0f} events")
