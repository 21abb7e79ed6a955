"""Prewrites behind the latches of their own transaction's locks (tikv/tikv#8045)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sim.observers.own_latches import OwnLatches
from sim.protocol.mvcc import PUT
from sim.protocol.percolator import Mutation
from sim.protocol.region_errors import StaleCommand
from sim.storage.request import Kind, KvRequest
from sim.storage.scheduler import Scheduler
from sim.units import NS_PER_MS
from tests.scenes import IN_MEMORY, PIPELINED, SYNC, Scene, constant_scenario

TXN = 10 << 18
OTHER = 20 << 18
SOON_NS = NS_PER_MS // 2
"""When a pipelined lock is answered, and not yet applied (1.45 ms)."""


class Watched(Scene):
    def __init__(self, tikv: dict[str, object]) -> None:
        super().__init__(constant_scenario(tikv=tikv))
        self.own = OwnLatches(self.env, self.recorder)
        self.cluster.probe.add(self.own)

    def waits(self) -> dict[str, int]:
        """Returns how many prewrites waited for their own lock, by its path."""
        return {
            counter.class_: counter.value
            for counter in self.recorder.counters()
            if counter.metric == "own_latch_waits"
        }

    def early(self) -> tuple[int, int]:
        """Returns the prewrites that came early: those that waited, those that did not."""
        return self.counted("early_prewrites", "waited"), self.counted(
            "early_prewrites", "overtook"
        )


def test_a_prewrite_waits_until_its_own_pipelined_lock_is_applied() -> None:
    scene = Watched(PIPELINED)
    lock = scene.lock(b"k", TXN)
    prewrite = scene.prewrite(b"k", TXN, at_ns=SOON_NS)
    scene.run(10 * NS_PER_MS)
    assert (scene.waits(), scene.early()) == ({"pipelined": 1}, (1, 0))
    waited = scene.recorder.series("own_latch_wait", "pipelined")
    assert waited.sum == lock.applied_ns - prewrite.arrived_ns > 0


def test_one_that_comes_later_has_nothing_to_wait_for() -> None:
    scene = Watched(PIPELINED)
    scene.lock(b"k", TXN)
    scene.prewrite(b"k", TXN, at_ns=3 * NS_PER_MS)
    scene.run(10 * NS_PER_MS)
    assert (scene.waits(), scene.early()) == ({}, (0, 0))


@pytest.mark.parametrize("mode", [IN_MEMORY, SYNC])
def test_a_lock_in_memory_or_answered_after_apply_holds_nobody_up(mode: dict[str, object]) -> None:
    scene = Watched(mode)
    lock = scene.lock(b"k", TXN)
    scene.run(10 * NS_PER_MS)
    scene.prewrite(b"k", TXN, at_ns=max(lock.done_ns, scene.env.now_ns))
    scene.run(20 * NS_PER_MS)
    assert (scene.waits(), scene.early()) == ({}, (0, 0))


def test_other_keys_and_other_transactions_do_not_count() -> None:
    scene = Watched(PIPELINED)
    scene.lock(b"k", TXN)
    scene.lock(b"m", TXN)
    scene.prewrite(b"j", TXN, at_ns=SOON_NS)
    scene.prewrite(b"j", TXN, at_ns=SOON_NS)  # behind a prewrite, and no lock
    behind = [
        scene.prewrite(b"k", OTHER, at_ns=SOON_NS),
        scene.send(Kind.PESSIMISTIC_ROLLBACK, b"m", TXN, at_ns=SOON_NS),
    ]
    scene.run(10 * NS_PER_MS)
    assert all(each.latched_ns > each.arrived_ns for each in behind)
    assert (scene.waits(), scene.early()) == ({}, (0, 0))


@pytest.mark.parametrize(
    ("applied_ns", "same_replica", "counted"),
    [
        (0, True, (0, 1)),  # not applied when the prewrite ran
        (10, True, (0, 0)),  # applied when it came
        (15, True, (1, 0)),  # applied while it waited
        (20, True, (1, 0)),
        (21, True, (0, 1)),  # applied after it had the latch, and before it ran
        (15, False, (0, 0)),
        (0, False, (0, 0)),  # the replica that had the lock leads no longer, or has died
    ],
)
def test_time_stamps_say_who_was_early(
    applied_ns: int, same_replica: bool, counted: tuple[int, int]
) -> None:
    scene = Watched(PIPELINED)
    here, there = object(), object()
    lock: Any = SimpleNamespace(
        start_ts=TXN, keys=(b"k",), peer=here, reply_at_proposed=True, applied_ns=0
    )
    prewrite: Any = SimpleNamespace(
        start_ts=TXN, mutations=(Mutation(b"k", PUT, 10),), peer=here if same_replica else there,
        arrived_ns=10, latched_ns=20,
    )  # fmt: skip
    scene.own.granted(lock.peer, lock)
    lock.applied_ns = applied_ns
    scene.own.prewrite_ran(prewrite)
    assert scene.early() == counted


def test_a_lock_that_is_lost_is_not_waited_for() -> None:
    scene = Watched(PIPELINED)
    lock = scene.lock(b"k", TXN)
    scene.run(SOON_NS)
    scene.own.proposal_lost(lock, StaleCommand(1))
    scene.prewrite(b"k", TXN, at_ns=SOON_NS)
    scene.run(10 * NS_PER_MS)
    assert scene.early() == (0, 0)


def test_an_ended_transaction_is_forgotten() -> None:
    scene = Watched(PIPELINED)
    scene.lock(b"k", TXN)
    scene.run(SOON_NS)
    scene.own.transaction_ended(TXN, "committed", "")
    scene.prewrite(b"k", TXN, at_ns=SOON_NS)
    scene.run(10 * NS_PER_MS)
    assert scene.early() == (0, 0)


def test_latches_that_are_freed_with_the_answer_are_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A planted fault: a pipelined lock frees its latches as soon as it is proposed.
    scene = Watched(PIPELINED)
    reply, release, ended = Scheduler._reply_proposed, Scheduler._release_latches, set[int]()

    def release_early(scheduler: Scheduler, request: KvRequest) -> None:
        reply(scheduler, request)
        release(scheduler, request)
        ended.add(request.cid)

    def release_once(scheduler: Scheduler, request: KvRequest) -> None:
        if request.cid not in ended:
            release(scheduler, request)

    monkeypatch.setattr(Scheduler, "_reply_proposed", release_early)
    monkeypatch.setattr(Scheduler, "_release_latches", release_once)
    scene.lock(b"k", TXN)
    scene.prewrite(b"k", TXN, at_ns=SOON_NS)
    scene.run(10 * NS_PER_MS)
    assert (scene.waits(), scene.early()) == ({}, (0, 1))


def test_a_lock_in_memory_that_keeps_its_latch_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A planted fault: the answer leaves first, and the latch is free a millisecond later.
    scene = Watched(IN_MEMORY)

    def answer_first(scheduler: Scheduler, request: KvRequest) -> None:
        scheduler._reply(request)
        scene.env.at(scene.env.now_ns + NS_PER_MS, scheduler._release_latches, request)

    monkeypatch.setattr(Scheduler, "_finish_unwritten", answer_first)
    scene.lock(b"k", TXN)
    scene.prewrite(b"k", TXN, at_ns=SOON_NS)
    scene.run(10 * NS_PER_MS)
    assert scene.waits() == {"in_memory": 1}
