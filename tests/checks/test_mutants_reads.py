"""Planted mistakes about who may serve: stale reads, two holders, and transfers behind a fence.

Each is a run that the swarm has found in a model with that mistake, made smaller; without the
mistake the same run breaks nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sim.checks import holders, lock_tables, reads
from sim.client.lock_resolver import AFTER_READ, LockHolder, LockResolver
from sim.protocol.admin import TransferLeaderCommand
from sim.protocol.concurrency_manager import ConcurrencyManager
from sim.raftstore.leader_transfer import LeaderTransfer
from sim.raftstore.peer import Peer
from sim.swarm.recipe import Fault, Recipe
from sim.swarm.unit import outcome_of
from sim.units import NS_PER_MS


def fault(at_ms: float, verb: str, which: int, where: int, value: int = 0) -> Fault:
    at_ns = round(at_ms * NS_PER_MS)
    return Fault(at_ns=at_ns, verb=verb, which=which, where=where, value=value)


LATE_TARGET = Recipe(
    seed=50,
    tidb_nodes=2,
    regions=2,
    clients=5,
    staggered=True,
    busy_ns=485 * NS_PER_MS,
    rows=2,
    transfers=2,
    orders=2,
    blind=1,
    readers=4,
    tick_ms=40,
    faults=(fault(285, "lag", 6, 1, 1000), fault(285, "merge", 6, 1)),
)
"""A merge's target beside the source's leader hears of it late."""

SLOW_APPLY = Recipe(
    seed=25,
    stores=5,
    tidb_nodes=2,
    clients=20,
    staggered=True,
    busy_ns=1100 * NS_PER_MS,
    rows=2,
    transfers=3,
    blind=2,
    readers=3,
    behaviour="v6.0",
    fallback="pipelined",
    peer_limit_bytes=500,
    async_commit=True,
    one_pc=True,
    tick_ms=10,
    max_log_gap=3,
    write_amplification=1000,
    faults=(
        fault(218.555, "split", 7, 11),
        fault(361, "merge", 7, 38),
        fault(496.291, "hold", 5, 7, 63),
        fault(497.558, "split", 5, 29),
        fault(756, "hold_apply", 6, 0, 460),
        fault(757, "split", 6, 57),
        fault(960, "forget_routes", 0, 0),
    ),
)
"""A region splits while its leader cannot apply."""

HELD_APPLY = Recipe(
    seed=2330,
    tidb_nodes=2,
    clients=18,
    busy_ns=1650 * NS_PER_MS,
    rows=20,
    counters=2,
    orders=1,
    blind=1,
    readers=3,
    behaviour="v6.0",
    fallback="pipelined",
    peer_limit_bytes=500,
    store_io_pool_size=1,
    max_log_gap=3,
    faults=(
        fault(118, "hold_apply", 11, 0, 160),
        fault(118, "hold", 1, 8, 9),
        fault(120.995391, "transfer", 11, 37),
        fault(139.87379, "transfer", 11, 10),
        fault(872, "hold_apply", 9, 0, 1200),
        fault(873, "split", 9, 52),
        fault(1207, "hold_writes", 11, 0, 120),
        fault(1315, "forget_routes", 1, 0),
    ),
)
"""Likewise; a new region's leader grants a lock that the old one still holds."""

LATE_ANSWER = Recipe(
    seed=436,
    stores=4,
    tidb_nodes=2,
    regions=3,
    clients=1,
    staggered=True,
    busy_ns=768 * NS_PER_MS,
    rows=8,
    counters=1,
    transfers=0,
    orders=2,
    blind=2,
    readers=4,
    peer_limit_bytes=500,
    tick_ms=10,
    entry_max_bytes=450,
    faults=(
        fault(3, "split", 2, 21),
        fault(55, "split", 9, 8),
        fault(172, "split", 0, 24),
        fault(221.008, "split", 0, 35),
        fault(250, "hold_apply", 4, 0, 30),
        fault(250, "hold", 2, 8, 27),
        fault(254.222, "transfer", 4, 55),
        fault(269.751, "merge", 4, 1),
        fault(497, "set_config", 5, 26, 992),
        fault(535, "clear_filters", 4, 33),
        fault(568, "hold_apply", 3, 0, 30),
    ),
)
"""The target of a transfer answers when a merge waits behind its fence."""

ONE_PHASE = Recipe(
    seed=6, clients=8, rows=2, transfers=2, blind=2, readers=4, one_pc=True, slow_cpu=20
)
"""Readers meet transactions that commit in one phase."""

RANGES = Recipe(
    seed=1, regions=2, clients=12, rows=8, transfers=4, readers=4, slow_cpu=20, async_commit=True
)
"""Readers meet transactions that have locked many rows of a range."""

TWO_PHASES = replace(RANGES, rows=2, async_commit=False)
"""Readers meet transactions that have yet to be given a commit timestamp."""


def laws_in(recipe: Recipe) -> set[str]:
    return {line.partition(":")[0] for line in outcome_of(recipe).violations}


@pytest.mark.parametrize(
    "recipe",
    [LATE_TARGET, SLOW_APPLY, HELD_APPLY, LATE_ANSWER, ONE_PHASE, RANGES, TWO_PHASES],
    ids=[
        "late_target",
        "slow_apply",
        "held_apply",
        "late_answer",
        "one_phase",
        "ranges",
        "two_phases",
    ],
)
def test_a_sound_run_breaks_nothing(recipe: Recipe) -> None:
    assert laws_in(recipe) == set()


def never(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(Peer, name, property(lambda _: False))


def test_a_leader_that_keeps_its_lease_when_it_merges(monkeypatch: pytest.MonkeyPatch) -> None:
    never(monkeypatch, "is_merging")
    assert reads.FRESH in laws_in(LATE_TARGET)


def test_a_leader_that_renews_its_lease_when_it_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    never(monkeypatch, "is_splitting")
    assert reads.FRESH in laws_in(SLOW_APPLY)
    assert holders.LAW in laws_in(HELD_APPLY)


def test_a_transfer_that_is_proposed_behind_a_fence(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(self: LeaderTransfer, peer: Peer, to_store: int) -> None:
        command = TransferLeaderCommand(to_store, peer.raft.term, checks_epoch=False)
        self._proposals.propose_admin(peer, command)
        self._ctx.probe.transfer_proposed(peer)

    monkeypatch.setattr(LeaderTransfer, "_propose_command", careless)
    assert lock_tables.FENCE in laws_in(LATE_ANSWER)


def test_one_phase_commits_that_readers_do_not_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ConcurrencyManager, "lock_keys", lambda *_: None)
    assert reads.REPEATABLE in laws_in(ONE_PHASE)


def test_a_reader_that_passes_committed_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    sound: Callable[..., Any] = LockResolver.resolve

    def hasty(*args: Any, **options: Any) -> Any:
        holder = yield from sound(*args, **options)
        return LockHolder(AFTER_READ) if options.get("reading") else holder

    monkeypatch.setattr(LockResolver, "resolve", hasty)
    assert laws_in(RANGES) & {reads.FRESH, reads.REPEATABLE}


def test_a_reader_that_looks_through_every_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    sound: Callable[..., Any] = LockResolver.resolve

    def hasty(*args: Any, **options: Any) -> Any:
        holder = yield from sound(*args, **options)
        return LockHolder(1) if options.get("reading") else holder

    monkeypatch.setattr(LockResolver, "resolve", hasty)
    assert reads.COMMITTED in laws_in(TWO_PHASES)
