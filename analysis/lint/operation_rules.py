"""Does what is done to the cluster happen where it can be seen, and to its end?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from analysis.lint.operation_times import (
    MOMENTARY,
    begins_ns,
    ends_ns,
    rolling_takes_ns,
    time_word,
)
from analysis.lint.scenario_warning import LintedCase, ScenarioWarning, duration, operation_key
from sim.scenario.schema.operations import (
    ChangePeerOperation,
    CrashStore,
    DelayMessages,
    DropMessages,
    EvictLeader,
    FillDisk,
    MergeRegion,
    Operation,
    Partition,
    RestartStore,
    Rolling,
    SlowDisk,
    Timed,
    TransferLeader,
    UpgradeStore,
)
from sim.scenario.targets import RegionTarget
from sim.units import NS_PER_S

_MOVES_LEADERS: Final = ("transfer_leader", "shuffle_leader", "evict_leader", "balance_leader")
_STALLS: Final = (CrashStore, Partition, FillDisk, DropMessages, DelayMessages, SlowDisk)
FEWEST_TIMES: Final = 30
"""How often a mechanism has to fire until its mean says something."""
_ONES: Final = ("1ns", "1us", "1ms", "1s", "1m", "1h")
_MUCH_SLOWER: Final = 10.0
"""Factor from which a slow disk is taken for a stall."""


def never(case: LintedCase, each: Operation) -> Iterator[ScenarioWarning]:
    """Yields operations that begin when the run is over."""
    first_ns = begins_ns(each)
    if first_ns is not None and first_ns >= case.end_ns:
        yield ScenarioWarning(
            operation_key(each, time_word(each)),
            f"{duration(first_ns)} is no earlier than the end of the run "
            f"({duration(case.end_ns)}, warm-up included), so it never happens; lengthen "
            "run.measure",
        )


def unseen(case: LintedCase, each: Operation) -> Iterator[ScenarioWarning]:
    """Yields operations that are over before the warm-up is."""
    over_ns = ends_ns(each)
    if over_ns is not None and over_ns <= case.warmup_ns:
        yield ScenarioWarning(
            operation_key(each, time_word(each)),
            f"it is over at {duration(over_ns)}, within the warm-up of "
            f"{duration(case.warmup_ns)}, which no figure uses; start it later",
        )


def period(case: LintedCase, each: Operation) -> Iterator[ScenarioWarning]:
    """Yields rhythms that are slower than what is measured."""
    measure_ns = case.scenario.run.measure_ns
    if not isinstance(each, Timed) or each.every_ns is None or each.count is not None:
        return
    first_ns = begins_ns(each) or 0
    if each.every_ns > measure_ns and first_ns < case.end_ns:
        yield ScenarioWarning(
            operation_key(each, "every"),
            f"{duration(each.every_ns)} is longer than the measured "
            f"{duration(measure_ns)}, so no figure covers a whole period; lengthen "
            "run.measure",
        )


def cut_short(case: LintedCase, each: Operation) -> Iterator[ScenarioWarning]:
    """Yields operations that the run cannot see to their end."""
    if not isinstance(each, Timed) or each.at_ns is None or each.at_ns >= case.end_ns:
        return
    over_ns = ends_ns(each)
    if isinstance(each, Rolling):
        least_ns = each.at_ns + rolling_takes_ns(each, case.scenario.cluster.stores)
        if least_ns >= case.end_ns:
            yield _too_late(case, each, "takes until", least_ns)
    elif over_ns is not None and over_ns >= case.end_ns and not isinstance(each, MOMENTARY):
        yield _too_late(case, each, "lasts until", over_ns)


def _too_late(case: LintedCase, each: Operation, verb: str, over_ns: int) -> ScenarioWarning:
    return ScenarioWarning(
        operation_key(each, "at"),
        f"it {verb} {duration(over_ns)} at least, and the run ends at "
        f"{duration(case.end_ns)}, so its consequences are not measured; lengthen run.measure",
    )


def election(case: LintedCase, each: Operation) -> Iterator[ScenarioWarning]:
    """Yields crashes and cuts so late that regions may have no new leader when the run ends."""
    tikv = case.scenario.tikv
    shortest_ns = tikv.raft_election_timeout_ticks * tikv.raft_base_tick_interval_ns
    longest_ns = 2 * shortest_ns
    if not isinstance(each, Timed) or each.at_ns is None or not _loses_leaders(each):
        return
    # A cut that is over before anybody stands for election needs none; a crash does.
    for_ns = each.for_ns if isinstance(each, Partition) else None
    if case.scenario.cluster.replicas == 1 or (for_ns is not None and for_ns < shortest_ns):
        return
    if _without_quorum_from_ns(case) is not None:
        return  # whatever is elected, and whenever, nothing ends
    if each.at_ns < case.end_ns < each.at_ns + longest_ns:
        yield ScenarioWarning(
            operation_key(each, "at"),
            f"an election takes up to {duration(longest_ns)}, and "
            f"{_only_left(case.end_ns - each.at_ns)}: transactions that wait for it do not end "
            "within the run; lengthen run.measure",
        )


def _only_left(left_ns: int) -> str:
    """Returns ``only 7s are left``, ``only 1ms is left``."""
    left = duration(left_ns)
    return f"only {left} {'is' if left in _ONES else 'are'} left"


def quorum(case: LintedCase, each: Operation) -> Iterator[ScenarioWarning]:
    """Yields the crash after which no region ever has a quorum again."""
    from_ns = _without_quorum_from_ns(case)
    if isinstance(each, CrashStore) and each.at_ns is not None and each.at_ns == from_ns:
        yield ScenarioWarning(
            operation_key(each, "at"),
            f"from {duration(from_ns)} to the end too many stores are down for a quorum, so no "
            "transaction ends, however long the run; write for, or add restart_store",
        )


def _without_quorum_from_ns(case: LintedCase) -> int | None:
    """Returns from when on too few stores are up for any region; None: never, as far as is said."""
    cluster, operations = case.scenario.cluster, case.scenario.operations
    if any(isinstance(each, RestartStore) for each in operations):
        return None
    down: dict[int, int] = {}
    for each in operations:
        if not isinstance(each, CrashStore) or each.at_ns is None or each.at_ns >= case.end_ns:
            continue
        if each.for_ns is None and each.store.by == "id":
            down[each.store.store] = min(each.at_ns, down.get(each.store.store, each.at_ns))
    most_alive = cluster.replicas // 2
    if cluster.stores - len(down) > most_alive:
        return None
    return sorted(down.values())[cluster.stores - most_alive - 1]


def _loses_leaders(operation: Operation) -> bool:
    """Returns whether regions have to elect a leader because of it."""
    match operation:
        case Partition(groups=groups) if groups is not None:
            apart = [group for group in groups if any(name.startswith("store") for name in group)]
            return len(apart) > 1
        case CrashStore() | Partition():
            return True
        case _:
            return False


def seldom(cases: Sequence[LintedCase], replications: int) -> Iterator[ScenarioWarning]:
    """Yields what chance does too seldom to say what it costs, wherever a sweep makes it likeliest.

    Args:
        cases: of the study.
        replications: of each.
    """
    most: dict[str, float] = {}
    for case in cases:
        for each in case.scenario.operations:
            if isinstance(each, Timed) and each.rate_per_s is not None and each.count is None:
                until_ns = min(each.until_ns or case.end_ns, case.end_ns)
                from_ns = max(each.from_ns or 0, case.warmup_ns)
                times = each.rate_per_s * max(until_ns - from_ns, 0) / NS_PER_S * replications
                key = operation_key(each, "rate")
                most[key] = max(most.get(key, 0.0), times)
    for key, times in most.items():
        if 0 < times < FEWEST_TIMES:
            yield ScenarioWarning(
                key,
                f"it happens about {times:.0f} times in all replications of a variant together, "
                f"too seldom for a mean; write a rate or run.measure with {FEWEST_TIMES} or more",
            )


def reactivation(case: LintedCase, each: Operation) -> Iterator[ScenarioWarning]:
    """Yields transfers that may fail too late for a closed table to open again."""
    tikv = case.scenario.tikv
    cycle_ns = tikv.reactive_memory_lock_tick_interval_ns * tikv.reactive_memory_lock_timeout_tick
    faults = (DropMessages, DelayMessages, Partition)
    may_fail = any(isinstance(other, faults) for other in case.scenario.operations)
    if tikv.lock_mode != "in_memory" or not may_fail:
        return
    first_ns = begins_ns(each)
    if not isinstance(each, TransferLeader) or first_ns is None or first_ns >= case.end_ns:
        return
    left_ns = case.end_ns - first_ns
    if left_ns < cycle_ns:
        yield ScenarioWarning(
            operation_key(each, time_word(each)),
            f"a table that a failed transfer has closed opens again after "
            f"{duration(cycle_ns)}, and {_only_left(left_ns)}; lengthen run.measure",
        )


def closed_loop(case: LintedCase, each: Operation) -> Iterator[ScenarioWarning]:
    """Yields stalls under clients that wait: few requests feel what they would have felt."""
    if case.scenario.workload.threads is None:
        return
    slight = isinstance(each, SlowDisk) and each.factor < _MUCH_SLOWER
    restarts = isinstance(each, EvictLeader | UpgradeStore) and each.restart
    first_ns = begins_ns(each)
    happens = first_ns is None or first_ns < case.end_ns
    if happens and ((isinstance(each, _STALLS) and not slight) or restarts):
        yield ScenarioWarning(
            "workload.threads",
            f"clients that wait for each answer send nothing while {each.do} stalls them, so "
            "quantiles and means hide the stall; write workload.rate instead",
        )


def nowhere_to_go(case: LintedCase, each: Operation) -> Iterator[ScenarioWarning]:
    """Yields moves for which a cluster has no place."""
    cluster = case.scenario.cluster
    if each.do in _MOVES_LEADERS and cluster.replicas == 1:
        yield ScenarioWarning(
            "cluster.replicas",
            f"regions with one replica have no other leader, so {each.do} does nothing; write 3",
        )
    others = [other for other in case.scenario.operations if other is not each]
    adds = isinstance(each, ChangePeerOperation) and each.add is not None
    removed = (isinstance(other, ChangePeerOperation) and other.remove for other in others)
    if adds and cluster.stores <= cluster.replicas and not any(removed):
        yield ScenarioWarning(
            "cluster.stores",
            f"every store has a replica of every region, so {each.do} adds none; write "
            f"{cluster.replicas + 1} or more",
        )
    splits = any("split" in other.do for other in others)
    if isinstance(each, MergeRegion) and cluster.regions == 1 and not splits:
        yield ScenarioWarning(
            "cluster.regions",
            "a single region has no neighbour to merge with; write 2 or more",
        )


def no_such_region(case: LintedCase, each: Operation) -> Iterator[ScenarioWarning]:
    """Yields regions by numbers that no region has, in a cluster that splits none."""
    regions, target = case.scenario.cluster.regions, getattr(each, "region", None)
    if regions is None or not isinstance(target, RegionTarget) or target.by != "id":
        return
    splits = any("split" in other.do for other in case.scenario.operations)
    if target.region_id > regions and not splits:
        yield ScenarioWarning(
            operation_key(each, "region"),
            f"nothing splits a region, so there is no region {target.region_id} and {each.do} does "
            f"nothing; write {'1' if regions == 1 else f'1 to {regions:,}'}, or random",
        )


def nothing_to_restart(case: LintedCase, each: Operation) -> Iterator[ScenarioWarning]:
    """Yields restarts in a scenario that stops no store."""
    crashes = any(isinstance(other, CrashStore) for other in case.scenario.operations)
    if isinstance(each, RestartStore) and not crashes:
        yield ScenarioWarning(
            operation_key(each, "do"),
            "no crash_store stops a store, so there is none to start again; add one",
        )
