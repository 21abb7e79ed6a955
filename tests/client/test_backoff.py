"""Waits before a request is sent again: how long, and how long in all."""

from __future__ import annotations

import pytest

from sim.client.backoff import (
    BUDGETS_NS,
    BUSY_LIMIT_NS,
    MAX_TS_NOT_SYNCED,
    REGION_MISS,
    SERVER_BUSY,
    TIKV_RPC,
    TXN_LOCK_FAST,
    Backoff,
    Backoffer,
)
from sim.storage.request import Kind
from sim.streams import Stream
from sim.units import NS_PER_MS, NS_PER_S


def backoffer(limit_ns: int = 20 * NS_PER_S) -> Backoffer:
    return Backoffer(limit_ns, Stream("a test"))


def waits_ms(of: Backoffer, kind: Backoff, count: int) -> list[float]:
    waits = [of.next_ns(kind) for _ in range(count)]
    return [wait / NS_PER_MS for wait in waits if wait is not None]


def test_waits_double_until_the_cap() -> None:
    assert waits_ms(backoffer(), REGION_MISS, 10) == [2, 4, 8, 16, 32, 64, 128, 256, 500, 500]


def test_each_kind_doubles_for_itself() -> None:
    of = backoffer()
    assert waits_ms(of, REGION_MISS, 3) == [2, 4, 8]
    assert waits_ms(of, MAX_TS_NOT_SYNCED, 3) == [2, 4, 8]
    assert waits_ms(of, REGION_MISS, 1) == [16]


@pytest.mark.parametrize("kind", [TIKV_RPC, SERVER_BUSY, TXN_LOCK_FAST])
def test_half_of_a_jittered_wait_is_drawn(kind: Backoff) -> None:
    stream = Stream("a test")
    for attempt in range(20):
        most_ms = min(kind.cap_ms, kind.base_ms * 2**attempt)
        wait_ms = kind.wait_ns(attempt, stream) / NS_PER_MS
        assert most_ms / 2 <= wait_ms <= most_ms
    assert len({kind.wait_ns(3, stream) for _ in range(5)}) == 5


def test_the_budget_is_for_all_kinds_together_and_the_last_wait_may_pass_it() -> None:
    of = backoffer(limit_ns=10 * NS_PER_MS)
    assert waits_ms(of, REGION_MISS, 2) == [2, 4]
    assert waits_ms(of, MAX_TS_NOT_SYNCED, 2) == [2, 4]
    assert of.slept_ns == 12 * NS_PER_MS
    assert of.next_ns(REGION_MISS) is None
    assert of.next_ns(MAX_TS_NOT_SYNCED) is None


def test_a_busy_server_is_waited_for_beside_the_budget_but_not_for_ever() -> None:
    of = backoffer(limit_ns=NS_PER_S)
    waits = waits_ms(of, SERVER_BUSY, 1_000)
    assert of.slept_ns == 0
    assert BUSY_LIMIT_NS <= sum(waits) * NS_PER_MS < BUSY_LIMIT_NS + 10 * NS_PER_S
    assert waits_ms(of, REGION_MISS, 1) == [2]


def test_every_kind_of_request_has_a_budget() -> None:
    assert set(BUDGETS_NS) == set(Kind)
    assert BUDGETS_NS[Kind.COP] == BUDGETS_NS[Kind.LOCK] == 40 * NS_PER_S
    assert BUDGETS_NS[Kind.PREWRITE] == 80 * NS_PER_S
    assert BUDGETS_NS[Kind.COMMIT] == 82 * NS_PER_S
