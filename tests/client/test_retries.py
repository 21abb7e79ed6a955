"""Region errors below the commands: what is sent again, when, and where."""

from __future__ import annotations

import pytest

from sim.client.region_request import RequestGroup
from sim.protocol.percolator import Acquired
from sim.protocol.region_errors import (
    DiskFull,
    EpochNotMatch,
    KeyNotInRegion,
    MaxTimestampNotSynced,
    NotLeader,
    ProposalInMergingMode,
    RaftEntryTooLarge,
    RegionError,
    RegionNotFound,
    ServerIsBusy,
    StaleCommand,
)
from sim.storage.request import Kind
from sim.units import NS_PER_MS, NS_PER_S
from tests.client.scripted_stores import LOST, ScriptedStores, region, route
from tests.scenes import IN_MEMORY, ONE_WAY_NS

ROUND_TRIP_NS = 2 * ONE_WAY_NS
US = 1_000


def scripted(*answers: object) -> ScriptedStores:
    of = ScriptedStores(tikv=IN_MEMORY)
    of.answer(*answers)
    return of


def group_of(of: ScriptedStores, *keys: bytes, at_ns: int = 0, ts: int = 10 << 18) -> RequestGroup:
    """Sends one lock request in a group of its own."""
    scene = of.scene
    request = scene.request(Kind.LOCK, keys[0], ts, keys=keys, request_bytes=9 * len(keys))
    group = RequestGroup(scene.node, [request])

    def send(_: None) -> None:
        request.region, request.store = scene.node.regions.locate(keys[0])
        group.send()

    scene.env.at(at_ns, send, None)
    return group


def sends(of: ScriptedStores) -> list[tuple[int, int]]:
    """Returns (sent_us, store) of the lock requests."""
    return [((at - ONE_WAY_NS) // US, store) for at, store in of.arrivals(Kind.LOCK)]


def asked_pd(of: ScriptedStores) -> int:
    return of.scene.cluster.network.links()["tidb-0", "pd"].messages


def granted(group: RequestGroup) -> bool:
    return all(isinstance(request.result, Acquired) for request in group.requests)


def test_the_leader_that_a_store_names_is_asked_at_once() -> None:
    of = scripted(NotLeader(1, 2))
    group = group_of(of, b"k")
    later = group_of(of, b"x", at_ns=NS_PER_MS)
    of.scene.run()
    assert sends(of) == [(0, 1), (200, 2), (1_000, 2)]
    assert granted(group)
    assert granted(later)
    assert group.failure is None
    assert [request.is_retry for request in of.requests(Kind.LOCK)] == [False, True, False]
    assert of.scene.counted("region_errors", "NotLeader") == 1


def test_a_retried_lock_counts_from_when_it_was_first_sent() -> None:
    of = scripted(ProposalInMergingMode(1))
    group_of(of, b"k")
    of.scene.run()
    # A round trip, 2 ms, and another one with 100 us of CPU.
    assert of.scene.recorder.series("lock_latency", "in_memory").max == pytest.approx(
        2_500 * US, abs=2
    )
    assert of.scene.counted("lock_rpcs") == 1  # What was sent again; the test sent the first.


def test_when_nobody_knows_the_leader_the_replicas_are_tried_in_turn_and_then_pd() -> None:
    of = scripted(*[NotLeader(1)] * 4)
    group = group_of(of, b"k")
    of.scene.run()
    stores = [store for _, store in sends(of)]
    assert stores == [1, 2, 3, 1, 2]
    # Waits of 2, 4, 8 and 16 ms, each after a round trip; PD is asked after the third.
    assert [at for at, _ in sends(of)] == [0, 2_200, 6_400, 14_800, 31_000]
    assert asked_pd(of) == 1
    assert granted(group)


def test_who_turns_out_to_lead_is_remembered() -> None:
    of = scripted(NotLeader(1))
    group_of(of, b"k")
    group_of(of, b"x", at_ns=10 * NS_PER_MS)
    of.scene.run()
    assert sends(of) == [(0, 1), (2_200, 2), (10_000, 2)]


def test_stores_that_name_each_other_are_not_believed_for_ever() -> None:
    of = scripted(*[NotLeader(1, 2), NotLeader(1, 1)] * 6)
    group = group_of(of, b"k")
    of.scene.run()
    assert granted(group)
    assert asked_pd(of) == 1
    assert of.scene.counted("backoff_ns", "regionMiss") == 2 * NS_PER_MS


@pytest.mark.parametrize(
    ("error", "kind", "first_ms", "second_ms"),
    [
        (ProposalInMergingMode(1), "regionScheduling", 2, 4),
        (MaxTimestampNotSynced(1), "maxTsNotSynced", 2, 4),
        (DiskFull((1,)), "tikvDiskFull", 500, 1_000),
    ],
)
def test_what_passes_is_waited_out(
    error: RegionError, kind: str, first_ms: int, second_ms: int
) -> None:
    of = scripted(error, error)
    group = group_of(of, b"k")
    of.scene.run(2 * NS_PER_S)
    waited_us = 1_000 * first_ms
    assert sends(of) == [(0, 1), (200 + waited_us, 1), (400 + waited_us + 1_000 * second_ms, 1)]
    assert granted(group)
    assert of.scene.counted("backoff_ns", kind) == (first_ms + second_ms) * NS_PER_MS
    assert asked_pd(of) == 0


def test_a_busy_server_is_left_alone_for_one_to_two_seconds() -> None:
    of = scripted(ServerIsBusy("scheduler is busy"))
    group_of(of, b"k")
    of.scene.run(3 * NS_PER_S)
    (_, again_us) = (at for at, _ in sends(of))
    assert 1_000_000 < again_us <= 2_000_200


def test_a_split_cuts_a_request_in_two() -> None:
    parts = (region(9, b"", b"m", 2), region(1, b"m", b"", 2))
    of = scripted(EpochNotMatch(parts))
    group = group_of(of, b"a", b"b", b"x")
    of.scene.run()
    assert sends(of) == [(0, 1), (200, 1), (200, 1)]
    assert [request.keys for request in group.requests] == [(b"a", b"b"), (b"x",)]
    assert granted(group)
    assert asked_pd(of) == 0


@pytest.mark.parametrize(
    "error", [RegionNotFound(1), KeyNotInRegion(b"k", region(1, b"x", b"", 2)), EpochNotMatch(())]
)
def test_where_a_store_only_says_no_pd_is_asked(error: RegionError) -> None:
    of = scripted(error)
    group = group_of(of, b"k")
    other = group_of(of, b"x", at_ns=300 * US)
    of.scene.cluster.pd.routes.put(route(region(1, b"", b"", 1), 3))
    of.scene.run()
    # 2 ms of regionMiss, then PD; the other request asks PD before it is sent at all.
    assert sends(of) == [(0, 1), (500, 3), (2_200, 3)]
    assert asked_pd(of) == 1
    assert granted(group)
    assert granted(other)


def test_a_store_that_lags_behind_what_is_known_is_given_time() -> None:
    of = scripted(EpochNotMatch((region(1, b"", b"", 1),)))
    of.scene.node.regions.learn(route(region(1, b"", b"", 4), 1))
    request = of.scene.request(Kind.LOCK, b"k", 10 << 18)
    request.region = region(1, b"", b"", 4)
    group = RequestGroup(of.scene.node, [request])
    of.scene.env.at(0, lambda _: group.send(), None)
    of.scene.run(3 * NS_PER_MS)
    assert of.scene.node.regions.locate(b"k").region.epoch.version == 4
    assert of.scene.counted("backoff_ns", "regionMiss") == 2 * NS_PER_MS


def test_the_error_is_the_answer_when_the_budget_is_used_up() -> None:
    of = scripted(*[NotLeader(1)] * 100)
    group = group_of(of, b"k")
    of.scene.run(60 * NS_PER_S)
    assert group.event.triggered
    assert group.failure == NotLeader(1)
    assert isinstance(group.requests[0].result, NotLeader)
    # pessimisticLockMaxBackoff is 20 s, tidb_backoff_weight 2; the last wait of 500 ms may pass it.
    assert 40 * NS_PER_S <= of.scene.counted("backoff_ns", "regionScheduling") < 40.5 * NS_PER_S


def test_a_leader_whose_term_was_over_is_asked_again_at_once_and_the_others_at_last() -> None:
    """onRegionError does not back off for StaleCommand; maxReplicaAttempt is 10."""
    of = scripted(*[StaleCommand(1)] * 12)
    group = group_of(of, b"k")
    of.scene.run()
    assert sends(of)[:12] == [(200 * i, store) for i, store in enumerate([*[1] * 10, 2, 3])]
    assert of.scene.counted("backoff_ns", "regionMiss") == 2 * NS_PER_MS
    assert asked_pd(of) == 1
    assert granted(group)


def test_an_entry_that_is_too_large_is_not_tried_again() -> None:
    of = scripted(RaftEntryTooLarge(1, 9 << 20))
    group = group_of(of, b"k")
    of.scene.run()
    assert isinstance(group.failure, RaftEntryTooLarge)
    assert len(sends(of)) == 1


def test_a_group_waits_for_all_of_its_requests() -> None:
    of = ScriptedStores((b"", b"m"), tikv=IN_MEMORY)
    of.answer(ProposalInMergingMode(2), store=2)
    scene = of.scene
    requests = [scene.request(Kind.LOCK, key, 10 << 18) for key in (b"a", b"x")]
    group = RequestGroup(scene.node, requests)
    scene.env.at(0, lambda _: group.send(), None)
    ended = [scene.at(at_ms * NS_PER_MS, lambda: group.event.triggered) for at_ms in (2, 3)]
    scene.run()
    assert ended == [[False], [True]]
    assert [request.keys for request in group.requests] == [(b"a",), (b"x",)]


def test_a_late_reply_to_what_has_been_given_up_is_ignored() -> None:
    of = scripted()
    group = group_of(of, b"k")
    # The store has taken the request and its answer is on the way when the client loses patience.
    of.scene.env.at(250 * US, lambda _: of.scene.node.connections.store_crashed(1), None)
    of.scene.env.at(260 * US, lambda _: of.scene.node.connections.store_started(1), None)
    of.scene.run()
    assert granted(group)
    assert len(sends(of)) == 1

    of = scripted()
    group = group_of(of, b"k")
    of.scene.env.at(150 * US, lambda _: of.scene.node.connections.store_crashed(1), None)
    of.scene.env.at(160 * US, lambda _: of.scene.node.connections.store_started(1), None)
    of.scene.run()
    assert granted(group)
    assert len(sends(of)) == 2
    assert of.scene.counted("region_errors", "RpcError") == 1


def test_a_request_that_is_never_answered_fails_after_30_s() -> None:
    of = scripted(LOST)
    group = group_of(of, b"k", at_ns=NS_PER_S)
    of.scene.run(40 * NS_PER_S)
    (_, (again_us, store)) = sends(of)
    # tikvRPC: 50 to 100 ms; then another replica, which in this scene knows as much.
    assert 31_050_000 <= again_us <= 31_100_000
    assert store == 2
    assert granted(group)
