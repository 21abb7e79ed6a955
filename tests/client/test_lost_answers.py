"""Commands whose answers are lost, and transactions on regions that change under them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sim.protocol.percolator import CommitTsExpired, LockNotFoundReason, PessimisticLockNotFound
from sim.protocol.region_errors import (
    EpochNotMatch,
    NotLeader,
    ReadIndexNotReady,
    RegionError,
    RpcError,
    StaleCommand,
)
from sim.storage.probe import Probe
from sim.storage.request import Kind
from sim.units import NS_PER_MS, NS_PER_S
from sim.workload.statement import ROLLBACK, Read, ReadKind, Statement
from tests.client.scripted_stores import ScriptedStores, Unanswered, region
from tests.scenes import IN_MEMORY, point_update, script, update

TWO_PHASES: dict[str, object] = {"one_pc": False, "async_commit": False}
ASYNC: dict[str, object] = {"one_pc": False}
ONE_PC: dict[str, object] = {}
RESET = RpcError(1, "connection reset")
SPLIT_AT_M = EpochNotMatch((region(9, b"", b"m", 2), region(1, b"m", b"", 2)))
FOR_EVER = 500


class Ends(Probe):
    """How transactions ended."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []

    def transaction_ended(self, start_ts: int, outcome: str, reason: str) -> None:
        """Notes it."""
        assert start_ts
        self.seen.append((outcome, reason))


class Watched(ScriptedStores):
    """Scripted stores, and how their clients' transactions end."""

    def __init__(self, tidb: dict[str, object], *start_keys: bytes) -> None:
        super().__init__(start_keys or (b"",), tikv=IN_MEMORY, tidb=tidb)
        self.ends = Ends()
        self.scene.cluster.probe.add(self.ends)

    def run(self, *statements: Statement, until_ns: int = 10 * NS_PER_S) -> list[tuple[str, str]]:
        """Carries out one transaction; returns how it ended."""
        self.scene.begin(script(*statements))
        self.scene.run(until_ns)
        return self.ends.seen

    def versions(self, *keys: bytes) -> list[int]:
        """Returns how many versions each key has."""
        counts = []
        for key in keys:
            version = self.scene.leader(key).state.mvcc.writes.get(key)
            counts.append(0)
            while version is not None:
                counts[-1] += 1
                version = version.prev
        return counts

    def aborts(self, reason: str) -> int:
        return self.scene.counted("txn_aborts", reason)


COMMITTED = [("committed", "")]


@pytest.mark.parametrize("tidb", [ONE_PC, ASYNC, TWO_PHASES])
@pytest.mark.parametrize("kind", [Kind.LOCK, Kind.PREWRITE, Kind.COMMIT])
@pytest.mark.parametrize("error", [RESET, StaleCommand(1)])
def test_an_answer_that_is_lost_is_asked_for_again(
    tidb: dict[str, object], kind: Kind, error: RegionError
) -> None:
    of = Watched(tidb)
    of.answer(Unanswered(error), Unanswered(error), kind=kind)
    assert of.run(update(b"a", b"y")) == COMMITTED
    assert of.versions(b"a", b"y") == [1, 1]
    assert of.scene.locked_keys() == []
    assert list(of.scene.cluster.tso.running) == []
    sent = of.requests(kind)
    if sent:
        assert [request.is_retry for request in sent] == [False, True, True]


def test_a_commit_in_one_phase_that_was_carried_out_is_recognised_after_a_split() -> None:
    of = Watched(ONE_PC)
    of.answer(Unanswered(RESET), SPLIT_AT_M, kind=Kind.PREWRITE)
    assert of.run(update(b"a", b"y")) == COMMITTED
    assert [request.one_pc for request in of.requests(Kind.PREWRITE)] == [True, True, False, False]
    assert of.versions(b"a", b"y") == [1, 1]
    assert of.scene.locked_keys() == []


@pytest.mark.parametrize("tidb", [ONE_PC, {"async_commit": False}])
def test_one_phase_becomes_an_async_commit_or_two_phases_when_its_region_splits(
    tidb: dict[str, object],
) -> None:
    of = Watched(tidb)
    of.answer(SPLIT_AT_M, kind=Kind.PREWRITE)
    assert of.run(update(b"a", b"y")) == COMMITTED
    prewrites = of.requests(Kind.PREWRITE)[1:]
    is_async = tidb is ONE_PC
    assert [request.use_async_commit for request in prewrites] == [is_async, is_async]
    assert [request.secondaries for request in prewrites] == [(b"y",) if is_async else None, None]
    assert of.versions(b"a", b"y") == [1, 1]
    assert [request.keys for request in of.requests(Kind.COMMIT)] == [(b"a",), (b"y",)]
    assert of.scene.locked_keys() == []


def test_after_a_split_the_primary_is_committed_alone_and_first() -> None:
    of = Watched(TWO_PHASES)
    expired = CommitTsExpired(b"a", 1, 2, 3)
    of.answer(SPLIT_AT_M, expired, kind=Kind.COMMIT)
    assert of.run(update(b"a", b"y")) == COMMITTED
    commits = of.requests(Kind.COMMIT)
    assert [request.keys for request in commits] == [
        (b"a", b"y"), (b"a",), (b"a", b"y"),
    ]  # fmt: skip
    assert commits[2].commit_ts > commits[1].commit_ts
    assert of.versions(b"a", b"y") == [1, 1]

    of = Watched(TWO_PHASES)
    of.answer(SPLIT_AT_M, kind=Kind.COMMIT)
    assert of.run(update(b"a", b"y")) == COMMITTED
    commits = of.requests(Kind.COMMIT)
    assert [request.keys for request in commits[1:]] == [(b"a",), (b"y",)]
    assert of.scene.locked_keys() == []


@pytest.mark.parametrize(
    ("tidb", "kind"), [(ONE_PC, Kind.PREWRITE), (ASYNC, Kind.PREWRITE), (TWO_PHASES, Kind.COMMIT)]
)
def test_the_end_is_undetermined_if_no_answer_comes_in_time(
    tidb: dict[str, object], kind: Kind
) -> None:
    of = Watched(tidb)
    of.answer(Unanswered(RESET), *[NotLeader(1)] * FOR_EVER, kind=kind)
    assert of.run(update(b"a", b"y"), until_ns=120 * NS_PER_S) == [("undetermined", "undetermined")]
    assert of.aborts("undetermined") == 1
    assert of.scene.counted("txns", "t") == 0
    # It was carried out, in fact, and nothing tries to undo it.
    assert of.versions(b"a")[0] == (0 if tidb is ASYNC else 1)
    assert of.requests(Kind.ROLLBACK) == []
    assert of.requests(Kind.PESSIMISTIC_ROLLBACK) == []
    assert of.scene.violations() == []


def test_a_prewrite_that_decides_nothing_is_rolled_back_if_no_answer_comes() -> None:
    of = Watched(TWO_PHASES)
    of.answer(Unanswered(RESET), *[NotLeader(1)] * FOR_EVER, kind=Kind.PREWRITE)
    assert of.run(update(b"a", b"y"), until_ns=120 * NS_PER_S) == [("aborted", "NotLeader")]
    assert of.aborts("NotLeader") == 1
    assert of.scene.locked_keys() == []


@pytest.mark.parametrize(("tidb", "kind"), [(ONE_PC, Kind.PREWRITE), (TWO_PHASES, Kind.COMMIT)])
def test_a_commit_that_no_store_has_taken_is_aborted_and_leaves_no_lock(
    tidb: dict[str, object], kind: Kind
) -> None:
    of = Watched(tidb)
    of.answer(*[NotLeader(1)] * FOR_EVER, kind=kind)
    assert of.run(update(b"a", b"y"), until_ns=120 * NS_PER_S) == [("aborted", "NotLeader")]
    assert of.scene.locked_keys() == []


def test_locks_that_may_have_been_taken_are_freed_when_a_statement_fails() -> None:
    of = Watched(ONE_PC)
    of.answer(Unanswered(RESET), *[RESET] * FOR_EVER, kind=Kind.LOCK)
    assert of.run(update(b"a", b"y"), until_ns=120 * NS_PER_S) == [("aborted", "RpcError")]
    assert [request.keys for request in of.requests(Kind.PESSIMISTIC_ROLLBACK)] == [(b"a", b"y")]
    assert of.scene.locked_keys() == []


def test_a_read_gives_up_after_its_budget() -> None:
    of = Watched(ONE_PC)
    not_ready = ReadIndexNotReady(1, "it splits")
    of.answer(*[not_ready] * FOR_EVER, kind=Kind.GET)
    read = Statement("select", (Read(ReadKind.GET, (b"a",), 1),))
    assert of.run(read, until_ns=120 * NS_PER_S) == [("aborted", "ReadIndexNotReady")]
    assert 40 * NS_PER_S <= of.scene.counted("backoff_ns", "regionScheduling") < 41 * NS_PER_S


def test_secondaries_that_cannot_be_committed_keep_their_transaction_running() -> None:
    of = Watched(TWO_PHASES, b"", b"m")
    of.answer(*[ReadIndexNotReady(2, "it splits")] * FOR_EVER, kind=Kind.COMMIT, store=2)
    assert of.run(update(b"a", b"y"), until_ns=180 * NS_PER_S) == COMMITTED
    assert of.scene.locked_keys() == [b"y"]
    assert len(of.scene.cluster.tso.running) == 1


@pytest.mark.parametrize(
    ("kinds", "last"),
    [
        ([Kind.PREWRITE, Kind.ROLLBACK], ()),
        ([Kind.PESSIMISTIC_ROLLBACK], (ROLLBACK,)),
    ],
)
def test_locks_that_cannot_be_rolled_back_keep_their_transaction_running(
    kinds: list[Kind], last: tuple[Statement, ...]
) -> None:
    of = Watched(TWO_PHASES, b"", b"m")
    for kind in kinds:
        of.answer(*[ReadIndexNotReady(2, "it splits")] * FOR_EVER, kind=kind, store=2)
    ((outcome, _),) = of.run(update(b"a", b"y"), *last, until_ns=180 * NS_PER_S)
    assert outcome == "aborted"
    assert of.scene.locked_keys() == [b"y"]
    assert len(of.scene.cluster.tso.running) == 1


def test_a_heartbeat_follows_its_region() -> None:
    of = Watched(ONE_PC)
    of.scene.node._costs = replace(of.scene.node._costs, tidb_statement_ns=7 * NS_PER_S)
    of.answer(NotLeader(1, 2), kind=Kind.HEARTBEAT)
    pause = Statement("think")
    assert of.run(update(b"a"), pause, pause, until_ns=180 * NS_PER_S) == COMMITTED
    assert [store for _, store in of.arrivals(Kind.HEARTBEAT)][:2] == [1, 2]


def test_waiters_on_an_old_leader_time_out_and_are_sent_to_the_new_one() -> None:
    of = Watched(ONE_PC)
    scene = of.scene
    scene.lock(b"k", 1)
    scene.begin(script(update(b"k")), 10 * NS_PER_MS)
    # Leadership moves while the request waits; the holder's lock is freed where nobody waits.
    scene.run(500 * NS_PER_MS)
    leader = scene.leader(b"k")
    del leader.locks.map[b"k"]
    of.answer(NotLeader(1, 3), kind=Kind.LOCK)
    scene.run(3 * NS_PER_S)
    first, refused, granted = of.arrivals(Kind.LOCK)[1:]
    assert refused[0] - first[0] >= NS_PER_S
    assert (refused[1], granted[1]) == (1, 3)
    assert scene.counted("txns", "t") == 1


@pytest.mark.parametrize("reason", list(LockNotFoundReason))
def test_a_lost_lock_that_prewrite_cannot_do_without_is_named(reason: LockNotFoundReason) -> None:
    of = Watched(ONE_PC)
    of.answer(PessimisticLockNotFound(b"a", reason), kind=Kind.PREWRITE)
    name = f"pessimistic_lock_not_found:{reason.value}"
    assert of.run(update(b"a", b"y")) == [("aborted", name)]
    assert of.aborts(name) == 1
    assert of.scene.locked_keys() == []


def test_a_prewrite_that_meets_a_living_lock_gives_up_after_its_budget() -> None:
    of = Watched(TWO_PHASES)
    holder = of.scene.cluster.tso.begin(0)
    of.scene.prewrite(b"k", holder, lock_ttl_ms=1_000_000)
    of.scene.begin(script(update(b"k"), autocommit=True), NS_PER_MS)
    of.scene.run(120 * NS_PER_S)
    assert of.ends.seen == [("aborted", "resolve_lock_timeout")]
    assert of.scene.locked_keys() == [b"k"]


def test_how_a_transaction_ends_is_told_once() -> None:
    of = Watched(ONE_PC)
    assert of.run(update(b"a"), ROLLBACK) == [("aborted", "rollback")]

    of = Watched(ONE_PC)
    for _ in range(2):
        of.scene.begin(script(point_update(b"a"), autocommit=True))
    of.scene.run()
    assert sorted(of.ends.seen) == [("aborted", "WriteConflict"), *COMMITTED * 2]

    of = Watched(ONE_PC)
    assert of.run(Statement("select", (Read(ReadKind.GET, (b"a",), 1),))) == COMMITTED
