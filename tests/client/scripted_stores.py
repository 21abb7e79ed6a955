"""Stores that answer as a test tells them; otherwise each of them answers as the leader would.

Rules are looked at when a request arrives, in the order in which they were made; each is used once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sim.client.connections import ABANDONED
from sim.client.region_groups import copy_of
from sim.protocol.region import Region, RegionEpoch, RegionId, Route, StoreId
from sim.protocol.region_errors import RegionError
from sim.storage.request import Kind, KvRequest
from sim.units import NS_PER_MS
from tests.scenes import ONE_WAY_NS, Scene, constant_scenario

LOST = "lost"
"""The request is carried out, and its reply is lost."""

DROPPED = "dropped"
"""The request never arrives."""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """The request is carried out, but its client hears only ``error``, 5 ms later."""

    error: RegionError


@dataclass(slots=True)
class _Rule:
    kind: Kind | None
    answer: object
    store: int


class ScriptedStores:
    """A scene whose stores can be told what to answer."""

    def __init__(self, start_keys: tuple[bytes, ...] = (b"",), **parts: dict[str, Any]) -> None:
        self.scene = Scene(constant_scenario(**parts), list(start_keys))
        self.seen: list[tuple[int, int, KvRequest]] = []
        """(arrived_ns, store, request) of all requests."""
        self._rules: list[_Rule] = []
        self._real = {s: store.scheduler for s, store in self.scene.cluster.stores.items()}
        for store_id, store in self.scene.cluster.stores.items():
            store.scheduler = _Scheduler(self, store_id, self._real[store_id])  # type: ignore[assignment]

    def answer(self, *answers: object, kind: Kind | None = None, store: int = 0) -> None:
        """Lets the next requests (of one kind, to one store) be answered so, one each."""
        self._rules += [_Rule(kind, each, store) for each in answers]

    def arrivals(self, kind: Kind) -> list[tuple[int, int]]:
        """Returns (arrived_ns, store) of the requests of one kind."""
        return [(at_ns, store) for at_ns, store, request in self.seen if request.kind is kind]

    def requests(self, kind: Kind) -> list[KvRequest]:
        """Returns the requests of one kind, in the order of their arrival."""
        return [request for _, _, request in self.seen if request.kind is kind]

    def take(self, store_id: int, request: KvRequest) -> None:
        """Deals with a request that has arrived."""
        env = self.scene.env
        self.seen.append((env.now_ns, store_id, request))
        rule = next((r for r in self._rules if self._fits(r, store_id, request)), None)
        if rule is not None:
            self._rules.remove(rule)
        if rule is None:
            self._carry_out(request)
        elif rule.answer is LOST:
            self._carry_out_unseen(request)
        elif isinstance(rule.answer, Unanswered):
            self._carry_out_unseen(request)
            env.at(env.now_ns + 5 * NS_PER_MS, self._answer, (request, rule.answer.error))
        elif rule.answer is not DROPPED:
            env.at(env.now_ns + ONE_WAY_NS, self._answer, (request, rule.answer))

    def _carry_out_unseen(self, request: KvRequest) -> None:
        copy = copy_of(request, Route(request.region, request.store))
        copy.is_retry = request.is_retry
        copy.caller = ABANDONED
        self._carry_out(copy)

    def _carry_out(self, request: KvRequest) -> None:
        key = request.keys[0] if request.keys else request.mutations[0].key
        leader = self.scene.leader(key)
        request.region = leader.region
        self._real[leader.store].receive(request)

    @staticmethod
    def _answer(answered: tuple[KvRequest, object]) -> None:
        request, result = answered
        request.result = result
        request.caller.replied(request)

    @staticmethod
    def _fits(rule: _Rule, store_id: int, request: KvRequest) -> bool:
        return rule.kind in (None, request.kind) and rule.store in (0, store_id)


class _Scheduler:
    """Stands before a store's own scheduler."""

    def __init__(self, stores: ScriptedStores, store_id: int, real: Any) -> None:
        self._stores = stores
        self._store_id = store_id
        self._real = real

    def receive(self, request: KvRequest) -> None:
        self._stores.take(self._store_id, request)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def region(region_id: int, start: bytes, end: bytes, version: int, conf_ver: int = 1) -> Region:
    """Returns a region on stores 1, 2 and 3."""
    stores = (StoreId(1), StoreId(2), StoreId(3))
    return Region(RegionId(region_id), start, end, stores, RegionEpoch(conf_ver, version))


def route(of: Region, leader: int) -> Route:
    """Returns a route."""
    return Route(of, leader)
