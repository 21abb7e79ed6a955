"""Requests sent together and gathered again, with what a client does about region errors.

A group's event fires when the last answer has come. A region error is no answer as long as there is
hope: the client corrects its region cache, backs off, and sends the same keys again, to the regions
as they are then; the request sent before is abandoned. The leader that a store names is asked at
once, and so are the regions that a store names; a leader whose term was over for the request is
asked again at once, too, up to ten times. Where nobody knows the leader, or a store does not
answer, the other replicas are tried in turn, and after the last one PD is asked. All other errors
are waited out.

Source: tikv/client-go internal/locate/region_request.go (RegionRequestSender.SendReqCtx,
onRegionError, onSendFail), replica_selector.go, txnkv/transaction/prewrite.go, commit.go
(regionMiss).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Final

from simpy import Event

from sim.client.backoff import (
    DISK_FULL,
    MAX_TS_NOT_SYNCED,
    REGION_MISS,
    REGION_SCHEDULING,
    SERVER_BUSY,
    TIKV_RPC,
    Backoff,
    Backoffer,
)
from sim.client.connections import ABANDONED, NOT_IN_FLIGHT, InFlight
from sim.client.region_groups import copy_of, requests_by_region
from sim.client.replica_selector import MAX_ATTEMPTS, ReplicaSelector
from sim.client.tidb import TidbNode
from sim.engine import Wait
from sim.protocol.percolator import Acquired, MvccError
from sim.protocol.region import Route
from sim.protocol.region_errors import (
    DiskFull,
    EpochNotMatch,
    FlashbackInProgress,
    KeyNotInRegion,
    MaxTimestampNotSynced,
    NotLeader,
    ProposalInMergingMode,
    RaftEntryTooLarge,
    ReadIndexNotReady,
    RegionError,
    RegionNotFound,
    RpcError,
    ServerIsBusy,
    StaleCommand,
)
from sim.storage.request import Kind, KvRequest

_LOCK: Final = Kind.LOCK

_BACKOFFS: Final[dict[type[RegionError], Backoff]] = {
    DiskFull: DISK_FULL,
    MaxTimestampNotSynced: MAX_TS_NOT_SYNCED,
    ProposalInMergingMode: REGION_SCHEDULING,
    ReadIndexNotReady: REGION_SCHEDULING,
    ServerIsBusy: SERVER_BUSY,
}


class RequestGroup(InFlight):
    """Requests sent together; their caller. ``event`` fires when all are answered.

    What is in ``requests`` then may differ from what was sent first: see ``regroup``.

    A group and its requests drop their references to each other as the replies come, so that memory
    is freed at once and a run needs no search for cycles.
    """

    __slots__ = (
        "_backoffer", "_node", "_pending", "_selectors", "_then", "began_ns", "event", "failure",
        "may_be_applied", "requests",
    )  # fmt: skip

    def __init__(
        self,
        node: TidbNode,
        requests: list[KvRequest],
        then: Callable[[RequestGroup], None] | None = None,
    ) -> None:
        """Args: ``then`` is called with the group instead of firing ``event``."""
        self._node = node
        self._then = then
        self._pending = len(requests)
        self._backoffer: Backoffer | None = None
        self._selectors: dict[KvRequest, ReplicaSelector] = {}
        """By request, of those that have met a region error."""
        self.requests = requests
        self.event = Event(node.env)
        self.failure = None
        self.may_be_applied = False
        """A request may have been carried out though its client does not know."""

    def send(self) -> Event:
        """Sends the requests; returns the event."""
        node = self._node
        self.began_ns = node.env.now_ns
        node.connections.in_flight[self] = None
        stale = node.regions.stale
        for request in self.requests:
            if stale and request.region.region_id in stale:
                request.caller = NOT_IN_FLIGHT
                request.sent_ns = node.env.now_ns
                selector = ReplicaSelector(request.sent_ns)
                node.env.process(self._send_again(request, selector, 0))
            else:
                request.caller = self
                node.send(request)
        return self.event

    def replied(self, request: KvRequest) -> None:
        """Takes one answer; the last one fires the event."""
        node = self._node
        request.done_ns = node.env.now_ns
        request.caller = NOT_IN_FLIGHT
        result = request.result
        if isinstance(result, RegionError):
            if self._on_region_error(request, result):
                return
            self.failure = result
        elif self._selectors:
            self._on_success(request)
        node.stats.request_answered(request)
        if request.kind is _LOCK and result.__class__ is Acquired:
            node.stats.lock_replied(request)
        self._pending -= 1
        if not self._pending:
            del node.connections.in_flight[self]
            if self._then is None:
                node.env.fire(self.event)
            else:
                self._then(self)

    def refusals(self) -> list[KvRequest]:
        """Returns the requests that were refused, in the order of their sending."""
        return [request for request in self.requests if isinstance(request.result, MvccError)]

    def lost(self, request: KvRequest, error: RegionError) -> None:
        """Takes ``error`` for the answer to a request that is still on its way."""
        copy = copy_of(request, Route(request.region, request.store))
        copy.sent_ns = request.sent_ns
        self._replace(request, [copy])
        if request in self._selectors:
            self._selectors[copy] = self._selectors.pop(request)
        copy.result = error
        self.replied(copy)

    def regroup(self, request: KvRequest) -> list[KvRequest]:
        """Returns what to send instead of a request, by the regions of now."""
        return requests_by_region(self._node.regions, request)

    def _on_region_error(self, request: KvRequest, error: RegionError) -> bool:
        """Learns from an error; returns whether the request will be sent again."""
        node = self._node
        node.stats.region_error(type(error).__name__)
        if isinstance(error, RpcError | StaleCommand):
            self.may_be_applied = True
        if isinstance(error, RaftEntryTooLarge | FlashbackInProgress):
            return False
        selector = self._selectors.pop(request, None) or ReplicaSelector(request.sent_ns)
        learnt = node.regions.on_error(request.region, request.store, error)
        backoff = self._backoff_for(request, selector, error, learnt=learnt)
        wait_ns = 0
        if backoff is not None:
            if self._backoffer is None:
                self._backoffer = node.backoffer(request.kind)
            allowed_ns = self._backoffer.next_ns(backoff)
            if allowed_ns is None:
                return False
            wait_ns = allowed_ns
            node.stats.backed_off(backoff.name, wait_ns)
        node.env.process(self._send_again(request, selector, wait_ns))
        return True

    def _on_success(self, request: KvRequest) -> None:
        """Takes a request's last answer: its time counts from when it was first sent."""
        selector = self._selectors.pop(request, None)
        if selector is not None:
            request.sent_ns = selector.first_sent_ns
            self._node.regions.set_leader(request.region, request.store)

    def _backoff_for(
        self, request: KvRequest, selector: ReplicaSelector, error: RegionError, *, learnt: bool
    ) -> Backoff | None:
        """Returns how to wait before the next try, None if there is no need to."""
        match error:
            case NotLeader(_, leader):
                return self._on_not_leader(request, selector, leader)
            case EpochNotMatch() | RegionNotFound() | KeyNotInRegion():
                return None if learnt else REGION_MISS
            case RpcError():
                self._refused(request, selector)
                return TIKV_RPC
            case StaleCommand():
                return self._on_stale_command(request, selector)
            case _:
                return _BACKOFFS[type(error)]

    def _on_not_leader(
        self, request: KvRequest, selector: ReplicaSelector, named: int
    ) -> Backoff | None:
        node = self._node
        selector.refused.pop(named, None)
        leader = node.regions.locate(request.keys[0]).leader_store
        known_better = leader not in (0, request.store) and leader not in selector.refused
        if known_better and not node.connections.is_known_broken(leader):
            selector.hints += 1
            if selector.hints % MAX_ATTEMPTS:
                return None
            node.regions.invalidate(request.region)
            return REGION_MISS
        self._refused(request, selector)
        return REGION_SCHEDULING

    def _on_stale_command(self, request: KvRequest, selector: ReplicaSelector) -> Backoff | None:
        """Tries the same leader again, then the other replicas; PD has to be asked at the end."""
        selector.stale += 1
        if selector.stale < MAX_ATTEMPTS:
            return None
        self._refused(request, selector)
        if selector.refused:
            return None
        selector.stale = 0
        return REGION_MISS

    def _refused(self, request: KvRequest, selector: ReplicaSelector) -> None:
        """Notes a store tried in vain; after the last one PD has to be asked."""
        selector.refused[request.store] = None
        if not selector.next_untried(request, self._node.connections):
            selector.refused.clear()
            self._node.regions.invalidate(request.region)

    def _send_again(
        self, request: KvRequest, selector: ReplicaSelector, wait_ns: int
    ) -> Generator[Wait, Any, None]:
        """Backs off, asks PD about stale regions, and sends the keys to where they are then."""
        node = self._node
        regions = node.regions
        if wait_ns:
            yield wait_ns
        for key in request.keys:
            region = regions.locate(key).region
            if region.region_id in regions.stale:
                route = yield from node.get_region(key)
                regions.stale.pop(region.region_id, None)
                regions.learn(route)
        parts = self.regroup(request)
        for part in parts:
            same = (
                part.region.region_id == request.region.region_id
                and part.region.epoch == request.region.epoch
            )
            if not same or len(parts) > 1:
                selector = ReplicaSelector(selector.first_sent_ns)
            part.store = selector.store_for(part, request.store, node.connections)
            self._selectors[part] = selector
        self._replace(request, parts)
        counter = node.stats.by_kind.get(request.kind)
        if counter is not None:
            counter.value += len(parts)
        for part in parts:
            node.send(part)

    def _replace(self, request: KvRequest, parts: list[KvRequest]) -> None:
        place = self.requests.index(request)
        self.requests[place : place + 1] = parts
        self._pending += len(parts) - 1
        request.caller = ABANDONED
        for part in parts:
            part.caller = self
