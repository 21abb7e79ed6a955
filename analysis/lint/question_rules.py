"""Can the variants differ in what is asked, and can what is claimed be seen at all?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from analysis.lint.scenario_warning import LintedCase, ScenarioWarning, said_by
from analysis.metrics.catalogue import CAPACITY_METRICS, MetricKey
from analysis.study.questions import transaction_named, transaction_names
from analysis.study.study import Study
from sim.scenario.quantities import RATE
from sim.scenario.versions import RELEASES, parse_version

_MODES: Final = ("in_memory", "pipelined")
_MEANS_FIRST: Final = ("baseline", "base", "control", "before", "default")
_ONLY_IN_MEMORY: Final = (
    "in-memory-fallback", "in-memory-peer-size-limit", "in-memory-instance-size-limit",
    "force-in-memory",
)  # fmt: skip
_UNDER_OPERATIONS: Final = ("leader_transfers", "splits", "merges", "operations")
_COUNTS_OF_LOCKS: Final = ("locks_total", "lock_fates", "locks_lost")
_DECIDES: Final = ("tikv.pessimistic-txn", "workload.kind", "workload.transactions", "operations")
"""Keys that say which numbers there are."""
_PATHS: Final = ("lock_latency_ms", "lock_service_ms", "locks_total")


def names(cases: list[LintedCase]) -> Iterator[ScenarioWarning]:
    """Yields variants that are not what their name says."""
    for place, case in enumerate(cases):
        mode, key = case.scenario.tikv.lock_mode, f"compare.{case.variant}"
        claimed = next((each for each in _MODES if f"{case.variant}_".startswith(f"{each}_")), mode)
        if case.variant == "sync":
            claimed = "sync"
        if claimed != mode and not case.changes_lock_mode:
            hidden = mode == "sync" and claimed == "in_memory"
            remedy = "set tikv.pessimistic-txn.pipelined: true" if hidden else "rename or change it"
            yield ScenarioWarning(key, f"its locks are {_words(mode)}, not {_words(claimed)}; "
                                       f"{remedy}")  # fmt: skip
        if place and case.variant.lower() in _MEANS_FIRST:
            yield ScenarioWarning(
                key,
                f"the baseline is the first variant, {cases[0].variant}; move {case.variant} to "
                "the top",
            )


def without_effect(study: Study, cases: list[LintedCase]) -> Iterator[ScenarioWarning]:
    """Yields keys of in-memory locks in variants that have none."""
    for case in cases:
        for key in said_by(study, case.variant):
            if key.rpartition(".")[2] in _ONLY_IN_MEMORY and not case.grants_in_memory:
                yield ScenarioWarning(
                    f"compare.{case.variant}.{key}",
                    f"locks of {case.variant} are {_words(case.scenario.tikv.lock_mode)}, so it "
                    "has no effect; remove it, or set tikv.pessimistic-txn.in-memory: true",
                )


def no_locks(study: Study, cases: list[LintedCase]) -> Iterator[ScenarioWarning]:
    """Yields a comparison of kinds of locks in which nobody locks, unless it claims just that."""
    modes = {case.scenario.tikv.lock_mode for case in cases}
    locks = any(case.scenario.workload.takes_locks for case in cases)
    is_control = any(claim.against and claim.above and claim.below for claim in study.expect)
    if len(modes) > 1 and not locks and not is_control and _differ_in_nothing_else(cases):
        yield ScenarioWarning(
            "compare",
            "the kind of locks makes no difference to transactions that take none (in auto-commit "
            "they do only after a conflict); compare something else, or lock rows",
        )


def _differ_in_nothing_else(cases: list[LintedCase]) -> bool:
    """Returns whether the cases would be equal with one kind of locks."""
    alike = [
        replace(of, tikv=replace(of.tikv, pipelined=True, in_memory=True))
        for of in (case.scenario for case in cases)
    ]
    return all(each == alike[0] for each in alike)


def gate(case: LintedCase) -> Iterator[ScenarioWarning]:
    """Yields in-memory locks that the feature gate keeps out for the whole run."""
    if case.scenario.tikv.lock_mode == "in_memory" and case.gated_by is not None:
        yield ScenarioWarning(
            "cluster.store_versions",
            f"a store of {case.gated_by} keeps the feature gate closed, so no lock of "
            f"{case.variant} is in memory; write 6.0.0, or upgrade with operations",
        )


def versions(case: LintedCase) -> Iterator[ScenarioWarning]:
    """Yields versions of which more is expected than the model makes of a version."""
    tikv = case.scenario.tikv
    for version in case.scenario.cluster.store_versions:
        major, minor, _ = parse_version(version)
        if (major, minor) > tikv.version[:2]:
            release = f"v{major}.{minor}"
            remedy = f"write tikv.behaviour: {release}"
            if release not in RELEASES:
                remedy = f"{RELEASES[-1]} is the newest release that the model knows"
            yield ScenarioWarning(
                "cluster.store_versions",
                f"stores of {version} still have the rules and defaults of {tikv.behaviour}: here "
                "a version only decides on the gate of in-memory locks and on how writes to "
                f"RocksDB meet, both as from 6.0.0; {remedy}",
            )


def claims(study: Study, cases: Mapping[str, LintedCase]) -> Iterator[ScenarioWarning]:
    """Yields claims about numbers that a variant cannot have."""
    for place, claim in enumerate(study.expect):
        if study.capacity is not None and not claim.is_about_capacity:
            yield ScenarioWarning(
                f"expect[{place}]",
                "it is not judged: a search for capacity chooses its loads itself; claim "
                f"{' or '.join(CAPACITY_METRICS)}",
            )
            continue
        # A count is 0 then, and 0 may meet the claim.
        counted = claim.metric in (*_UNDER_OPERATIONS, *_COUNTS_OF_LOCKS)
        holds_of_zero = counted and claim.above is None and claim.against is None
        for variant in (claim.variant, claim.against):
            why = None if variant is None else _impossible(claim.key, cases[variant])
            if why is not None and not holds_of_zero:
                yield ScenarioWarning(f"expect[{place}]", f"it cannot hold: {why}")
                break


def wanted(study: Study, cases: Mapping[str, LintedCase]) -> Iterator[ScenarioWarning]:
    """Yields numbers wanted by precision, objectives or sensitivity that no variant can have."""
    keys = [("run.precision", key) for key in study.run.precision or ()]
    if study.capacity is not None:
        keys += [("capacity.slo", objective.key) for objective in study.capacity.slo]
    if study.sensitivity is not None:
        keys += [("sensitivity.outcomes", key) for key in study.sensitivity.outcomes]
    for where, key in keys:
        for case in cases.values():
            why = _impossible(key, case)
            if why is not None:
                yield ScenarioWarning(f"{where}.{key}", f"there is no such number: {why}")
                break


def is_steady(study: Study) -> bool:
    """Returns whether all points have the same kinds of locks, transactions and operations."""
    factors = [factor.key for factor in study.sensitivity.factors] if study.sensitivity else []
    return not any(
        f"{key}.".startswith(f"{decides}.") or f"{decides}.".startswith(f"{key}.")
        for key in (*study.points[0], *factors)
        for decides in _DECIDES
        if not key.startswith("operations.")
    )


def _impossible(key: MetricKey, case: LintedCase) -> str | None:
    """Returns why a variant has no such number, or always 0; None if it may have one."""
    workload, of = case.scenario.workload, case.variant
    if key.metric == "tpmc" and workload.kind != "tpcc":
        return f"only tpcc has tpmc; the workload is {workload.kind}"
    if key.metric in _UNDER_OPERATIONS and not case.scenario.operations:
        return f"no operation produces {key.metric}"
    if key.metric.startswith("lock") and not workload.takes_locks:
        return f"{workload.kind} takes no pessimistic locks"
    if key.metric in _PATHS and not case.grants_in_memory:
        mode = case.scenario.tikv.lock_mode
        if key.class_.startswith(("in_memory", "fallback")):
            return f"locks of {of} are {_words(mode)}, and none is {key.class_}"
    return _no_transaction(key, case)


def _no_transaction(key: MetricKey, case: LintedCase) -> str | None:
    """Returns why a class of transactions does not exist."""
    workload, named = case.scenario.workload, transaction_named(key)
    names = transaction_names(workload)
    if named is None or names is None:
        return None
    known = [name for name in names if (workload.mix or {}).get(name, 1.0) > 0]
    if named in known:
        return None
    return f"the workload has no transaction {named}; it has {', '.join(known)}"


def capacity_range(study: Study, first: LintedCase) -> Iterator[ScenarioWarning]:
    """Yields a present load that lies outside the loads that are searched."""
    capacity = study.capacity
    if capacity is None:
        return
    workload = first.scenario.workload
    threads = capacity.load == "workload.threads"
    present = workload.threads if threads else workload.rate_per_s
    if present is None or capacity.low <= present <= capacity.high:
        return
    ends = [_load_text(load, threads=threads) for load in (capacity.low, capacity.high)]
    side = "below" if present < capacity.low else "above"
    yield ScenarioWarning(
        "capacity.between",
        f"the present load ({_load_text(present, threads=threads)}) is {side} the searched "
        f"range ({' to '.join(ends)}), so the search says nothing about it; widen the range",
    )


def _load_text(load: float, *, threads: bool) -> str:
    return f"{load:g}" if threads else RATE.text_of(load)


def limits(study: Study, cases: list[LintedCase]) -> Iterator[ScenarioWarning]:
    """Yields limits of a region's lock table, said by a variant, that its clients cannot fill."""
    for case in cases:
        workload = case.scenario.workload
        if workload.threads is None or workload.kind != "custom" or not case.grants_in_memory:
            continue
        most = max(
            sum(each.rows or 0 for each in transaction.statements)
            for transaction in workload.transactions
        )
        most_bytes = workload.threads * most * MOST_LOCK_BYTES
        limit_bytes = case.scenario.tikv.in_memory_peer_size_limit_bytes
        for key in said_by(study, case.variant):
            if key.endswith("in-memory-peer-size-limit") and most_bytes < limit_bytes:
                yield ScenarioWarning(
                    f"compare.{case.variant}.{key}",
                    f"{workload.threads} clients with {most} locks each hold {most_bytes >> 10} "
                    "KiB at most, so it is never reached; write less, or more threads",
                )


MOST_LOCK_BYTES: Final = 256
"""More than any lock of a model's table takes: two keys of some 20 bytes and TiKV's fields."""


def _words(mode: str) -> str:
    return {"in_memory": "in memory", "sync": "synchronous"}.get(mode, mode)
