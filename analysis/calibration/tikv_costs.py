"""CPU costs of TiKV's stations from the growth of its own metrics, as far as they tell.

Law: a cost is CPU time, or time that somebody worked, divided by how often. Threads' CPU seconds
give it exactly; stage histograms hold waiting as well, so what is left of a stage after the waits
that are known is an upper end. What neither gives stays as it is, and is said.

Sums are never guessed from buckets: those are powers of two apart, and a cost is a difference.

A thread does several things, and its CPU is one figure: keys are in what a command costs, visits
and bytes in what a message costs. What is contained in another cost is set to 0 beside it, so that
it counts once; how it would divide when the load changes, these figures do not say.

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
_SERVED: Final = "tikv_grpc_msg_duration_seconds"
_READS: Final = "kv_get|kv_batch_get|kv_batch_get_command|coprocessor"
KNOWN: Final = (_COMMAND, _LATCH, _ASYNC, _APPLY, _CPU, _SENT, _PROPOSED, _SERVED)
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

    def count(self, stage: str, labels: str = ".*") -> float | None:
        """Returns how often a histogram was added to."""
        counted = self.of(f"{stage}_count", labels)
        if counted is not None or labels != ".*":
            return counted
        return self.of(f"{stage}_bucket", r"\+Inf", label="le")

    def cpu_seconds(self, threads: str) -> float | None:
        """Returns the CPU of threads whose name matches."""
        return self.of(_CPU, threads, label="name")


def costs_of(growths: Sequence[Growth]) -> list[Cost]:
    """Returns what the growth of TiKV's metrics says of each CPU cost."""
    totals = _Totals(growths)
    costs = []
    for cost_of, contained in _CONTAINED.items():
        found = cost_of(totals)
        costs += [found, *(_contained(key, found) for key in contained)]
    return [*costs, *_UNTOLD]


_UNTOLD: Final = (
    Cost(
        "compaction_byte",
        None,
        "flush and compaction share threads with other engines; no metric has CPU and bytes of one",
    ),
    Cost("thread_hop", None, "no metric measures waking a thread"),
    Cost("thread_run", None, "no metric measures how long threads run at a time"),
)


def _contained(key: str, found: Cost) -> Cost:
    """Returns a cost that cannot be told apart from another one."""
    if found.cost_ns is None:
        return Cost(key, None, f"in {found.key}, if that can be derived: nothing tells them apart")
    return Cost(key, 0, f"in {found.key}: nothing tells them apart")


def _grpc(totals: _Totals) -> Cost:
    why = "CPU of the gRPC threads by requests; an upper end, messages between stores are in it"
    needs = f"{_CPU}{{name=~'grpc.*'}} and {_SERVED}_count"
    return _cost("grpc_request", totals.cpu_seconds("grpc.*"), totals.count(_SERVED), why, needs)


def _read(totals: _Totals) -> Cost:
    why = "CPU of the read pool by reads, keys included; an upper end where gets count by batch"
    needs = f"{_CPU}{{name=~'unified_read.*'}} and {_SERVED}_count by type"
    spent, served = totals.cpu_seconds("unified_read.*"), totals.count(_SERVED, _READS)
    return _cost("tikv_read", spent, served, why, needs)


def _command(totals: _Totals) -> Cost:
    """A command's time without latch, snapshot and replication: what its thread worked, at most."""
    why = "commands less latch, snapshot and write, keys included; an upper end"
    needs = f"{_COMMAND}, {_LATCH} and {_ASYNC} (snapshot, write), each _sum and _count"
    spent, latch = totals.seconds(_COMMAND), totals.seconds(_LATCH)
    snapshot, write = totals.seconds(_ASYNC, "snapshot"), totals.seconds(_ASYNC, "write")
    left = None
    if spent is not None and latch is not None and snapshot is not None and write is not None:
        left = spent - (latch + snapshot + write)
    return _cost("tikv_command", left, totals.count(_COMMAND), why, needs)


def _message(totals: _Totals) -> Cost:
    """A message, a proposal, or the result of applying one; ticks, which none counts, add to it."""
    why = f"CPU of the store pollers by messages, proposals and results of applying on {REPLICAS} "
    why += "replicas, visits and bytes included"
    needs = f"{_CPU}{{name=~'(raftstore|rs)_.*'}}, {_SENT}, {_PROPOSED} by type"
    sent, proposed = totals.of(_SENT), totals.of(_PROPOSED, _PROPOSALS)
    applied = totals.of(_PROPOSED, _IN_RAFT)
    count = None
    if sent is not None and proposed is not None and applied is not None:
        count = sent + proposed + applied * REPLICAS
    return _cost("store_message", totals.cpu_seconds(r"(raftstore|rs)_.*"), count, why, needs)


def _apply(totals: _Totals) -> Cost:
    key = "apply_command"
    spent, proposed = totals.cpu_seconds("apply_.*"), totals.of(_PROPOSED, _IN_RAFT)
    if spent is not None and proposed is not None:
        why = f"CPU of the apply threads by proposals on {REPLICAS} replicas, keys included"
        return _cost(key, spent, proposed * REPLICAS, why)
    why = "time to apply a batch of a region; an upper end"
    needs = f"{_CPU}{{name=~'apply_.*'}} and {_PROPOSED} by type, or {_APPLY} (_sum, _count)"
    return _cost(key, totals.seconds(_APPLY), totals.count(_APPLY), why, needs)


_CONTAINED: Final = {
    _grpc: (),
    _read: ("tikv_row",),
    _command: ("tikv_key", "tikv_load_lock", "tikv_record", "tikv_finish"),
    _message: ("store_visit", "log_byte", "raftdb_record"),
    _apply: ("apply_record", "kvdb_record"),
}
"""What gives each cost, and the costs that it contains."""


def _cost(key: str, seconds: float | None, count: float | None, why: str, needs: str = "") -> Cost:
    if seconds is None or count is None:
        return Cost(key, None, f"needs {needs}")
    if count < FEWEST:
        return Cost(key, None, f"{count:.0f} events are too few; ask for a longer time")
    mean_ns = seconds / count * 1e9
    if not 1 <= mean_ns <= _LONGEST_NS:
        message = f"{seconds:.3g} s of {count:.0f} events cannot be; check units and labels"
        return Cost(key, None, message)
    return Cost(key, round(mean_ns), f"{why}; {count:,.0f} events")
