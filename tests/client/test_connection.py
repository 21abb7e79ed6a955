"""Connections that break: who notices when, and what becomes of the requests.

The groups here have no time for retries: the first error ends them.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sim.client.backoff import BUDGETS_NS
from sim.client.connections import Connections
from sim.client.region_request import RequestGroup
from sim.protocol.percolator import Acquired
from sim.protocol.region_errors import RpcError
from sim.server.control import Control
from sim.storage.request import Kind
from sim.units import NS_PER_MS, NS_PER_S
from tests.client.scripted_stores import DROPPED, LOST, ScriptedStores
from tests.client.test_retries import group_of
from tests.scenes import IN_MEMORY

US = 1_000


@pytest.fixture(autouse=True)
def _no_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BUDGETS_NS, Kind.LOCK, 0)


class Broken:
    """A scene, and what is done to its connections."""

    def __init__(self, *answers: object) -> None:
        self.of = ScriptedStores(tikv=IN_MEMORY)
        self.of.answer(*answers)

    @property
    def connections(self) -> Connections:
        return self.of.scene.node.connections

    def at(self, at_ns: int, call: Callable[[int], None], store: int = 1) -> None:
        """Calls one of the connections' methods at ``at_ns``."""
        self.of.scene.env.at(at_ns, call, store)

    def group(self, at_ns: int = 0) -> RequestGroup:
        """Sends a lock request to store 1; each of a transaction and key of its own."""
        return group_of(self.of, b"k%d" % at_ns, at_ns=at_ns, ts=(10 << 18) + at_ns)

    def run(self, until_ns: int = NS_PER_S) -> None:
        """Runs until ``until_ns``."""
        self.of.scene.run(until_ns)


def ended(group: RequestGroup) -> tuple[int, str]:
    """Returns (at_us, how) a group of one request has ended."""
    assert group.event.triggered, "it has not ended"
    (request,) = group.requests
    how = request.result.reason if isinstance(request.result, RpcError) else "granted"
    assert (how == "granted") is isinstance(request.result, Acquired)
    return round(request.done_ns / US), how


def test_a_crash_resets_what_is_in_flight_half_a_round_trip_later() -> None:
    of = Broken(LOST)
    sent_before = of.group()
    of.at(3 * NS_PER_MS, of.connections.store_crashed)
    of.run()
    assert ended(sent_before) == (3_100, "connection reset")


def test_a_store_that_is_down_refuses_connections_until_it_is_back() -> None:
    of = Broken()
    of.at(NS_PER_MS, of.connections.store_crashed)
    while_down = of.group(2 * NS_PER_MS)
    of.at(3 * NS_PER_MS, of.connections.store_started)
    afterwards = of.group(4 * NS_PER_MS)
    of.run()
    assert ended(while_down) == (2_200, "connection refused")
    assert ended(afterwards) == (4_300, "granted")
    assert not of.connections.broken


def test_a_crash_leaves_the_other_stores_connections_alone() -> None:
    of = Broken()
    of.at(50 * US, of.connections.store_crashed, store=2)
    group = of.group()
    of.run()
    assert ended(group) == (300, "granted")


def test_an_answer_that_is_already_on_its_way_arrives() -> None:
    of = Broken()
    group = of.group()
    of.at(250 * US, of.connections.store_crashed)
    of.run()
    assert ended(group) == (300, "granted")


def test_a_cut_that_heals_in_time_only_delays() -> None:
    of = Broken()
    of.at(NS_PER_MS, of.connections.link_cut)
    group = of.group(2 * NS_PER_MS)
    of.at(5 * NS_PER_S, of.connections.link_healed)
    of.run(20 * NS_PER_S)
    assert ended(group) == (5_000_300, "granted")


def test_an_answer_that_was_sent_into_a_cut_arrives_when_it_heals() -> None:
    of = Broken()
    cluster = of.of.scene.cluster
    group = of.group(NS_PER_MS)
    of.at(NS_PER_MS + 150 * US, lambda _: Control(cluster).isolate(["tidb-0"]))
    of.at(2 * NS_PER_S, lambda _: Control(cluster).heal())
    of.run(40 * NS_PER_S)
    assert ended(group) == (2_000_100, "granted")


def test_a_cut_that_lasts_is_noticed_by_keepalive() -> None:
    of = Broken(DROPPED)
    before = of.group()
    of.at(NS_PER_MS, of.connections.link_cut)
    unnoticed = of.group(2 * NS_PER_MS)
    noticed = of.group(14 * NS_PER_S)
    of.at(16 * NS_PER_S, of.connections.link_healed)
    healed = of.group(17 * NS_PER_S)
    of.run(20 * NS_PER_S)
    assert ended(before) == (13_001_000, "timeout")
    assert ended(unnoticed) == (13_001_000, "timeout")
    assert ended(noticed) == (15_000_000, "connect timeout")
    assert ended(healed) == (17_000_300, "granted")
    assert len(of.of.arrivals(Kind.LOCK)) == 2  # Nothing of what failed is delivered later.


def test_a_store_that_dies_behind_a_cut_is_still_down_when_it_heals() -> None:
    of = Broken()
    of.at(1, of.connections.link_cut)
    waiting = of.group(NS_PER_MS)
    of.at(2 * NS_PER_MS, of.connections.store_crashed)
    of.at(3 * NS_PER_MS, of.connections.link_healed)
    of.at(4 * NS_PER_MS, of.connections.store_started)
    of.run()
    assert ended(waiting) == (3_100, "connection reset")
    assert not of.connections.broken


def test_what_is_never_answered_fails_after_30_s_and_costs_no_event_until_then() -> None:
    of = Broken(DROPPED)
    group = of.group(NS_PER_S)
    of.run(20 * NS_PER_S)
    events = of.of.scene.env.events
    of.run(29 * NS_PER_S)
    raft_only = Broken()
    raft_only.run(20 * NS_PER_S)
    before = raft_only.of.scene.env.events
    raft_only.run(29 * NS_PER_S)
    assert of.of.scene.env.events - events == raft_only.of.scene.env.events - before
    of.run(32 * NS_PER_S)
    assert ended(group) == (31_000_000, "timeout")


def test_it_is_known_which_stores_cannot_be_reached() -> None:
    of = Broken()
    known = of.connections.is_known_broken
    assert not known(1)
    of.connections.link_cut(1)
    assert not known(1)
    of.run(13 * NS_PER_S + 1)
    assert known(1)
    of.connections.store_crashed(2)
    assert known(2)
    assert not known(3)


def test_a_request_outside_a_group_fails_likewise() -> None:
    of = Broken()
    of.connections.store_crashed(1)
    request = of.of.scene.lock(b"k", 10 << 18)
    of.run()
    assert of.of.scene.replies == [request]
    assert request.result == RpcError(1, "connection refused")
