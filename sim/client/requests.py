"""Requests sent together and gathered again.

Law: a group's event fires when the last answer has come. A region error is no answer as long as
there is hope: the group sends the same keys again, to the regions of then, and what it has given up
is forgotten.

Source: tikv/client-go internal/locate/region_request.go (SendReqCtx).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpy import Event

from sim.client.callers import FORGOTTEN, NOBODY
from sim.client.recut import again, cut_again
from sim.client.retries import Retries
from sim.protocol.percolator import Acquired, MvccError
from sim.protocol.region import Route
from sim.protocol.region_errors import RegionError
from sim.storage.request import Kind, KvRequest

if TYPE_CHECKING:
    from sim.client.kv_client import KvClient

_LOCK: Final = Kind.LOCK


class RequestGroup:
    """Requests sent together; their caller. ``event`` fires when all are answered.

    What is in ``requests`` then may differ from what was sent first: see ``send_instead``.

    A group and its requests let go of each other as the replies come: what a unit drops is free at
    once, and its run needs no search for cycles.
    """

    __slots__ = ("_kv", "_pending", "_retries", "event", "failure", "requests")

    def __init__(self, kv: KvClient, requests: list[KvRequest]) -> None:
        self._kv = kv
        self._pending = len(requests)
        self._retries: Retries | None = None
        self.requests = requests
        self.event = Event(kv.env)
        self.failure: RegionError | None = None
        """Why one of the requests has no other answer; None if all have."""

    @property
    def may_be_applied(self) -> bool:
        """Whether a request may have been carried out though its client does not know."""
        return self._retries is not None and self._retries.may_be_applied

    def send(self) -> Event:
        """Sends the requests; returns the event."""
        node = self._kv.node
        node.connections.groups[self] = None
        stale = node.regions.stale
        for request in self.requests:
            request.caller = self
            if stale and request.region.region_id in stale:
                self._retrying(request).begin(self, request)
            else:
                node.send(request)
        return self.event

    def replied(self, request: KvRequest) -> None:
        """Takes one answer; the last one fires the event."""
        kv = self._kv
        request.done_ns = kv.env.now_ns
        request.caller = NOBODY
        result = request.result
        if isinstance(result, RegionError):
            if self._retrying(request).meet(self, request, result):
                return
            self.failure = result
        elif self._retries is not None:
            self._retries.settle(request)
        if request.kind is _LOCK and result.__class__ is Acquired:
            kv.stats.lock_replied(request)
        self._pending -= 1
        if not self._pending:
            del kv.connections.groups[self]
            self.all_replied()

    def all_replied(self) -> None:
        """Wakes whoever waits for the group."""
        self._kv.env.fire(self.event)

    def refusals(self) -> list[KvRequest]:
        """Returns the requests that were refused, in the order of their sending."""
        return [request for request in self.requests if isinstance(request.result, MvccError)]

    def lost(self, request: KvRequest, error: RegionError) -> None:
        """Takes ``error`` for the answer to a request that is still on its way."""
        copy = again(request, Route(request.region, request.store))
        copy.sent_ns = request.sent_ns
        self._take_place(request, [copy])
        self._retrying(copy).replace(request, copy)
        copy.result = error
        self.replied(copy)

    def cut(self, request: KvRequest) -> list[KvRequest]:
        """Returns what to send instead of a request, by the regions of now."""
        return cut_again(request, self._kv.node.regions)

    def send_instead(self, request: KvRequest, parts: list[KvRequest]) -> None:
        """Puts ``parts`` in the place of a request, and sends them."""
        kv = self._kv
        self._take_place(request, parts)
        counter = kv.stats.by_kind.get(request.kind)
        if counter is not None:
            counter.value += len(parts)
        for part in parts:
            kv.node.send(part)

    def _take_place(self, request: KvRequest, parts: list[KvRequest]) -> None:
        place = self.requests.index(request)
        self.requests[place : place + 1] = parts
        self._pending += len(parts) - 1
        request.caller = FORGOTTEN
        for part in parts:
            part.caller = self

    def _retrying(self, request: KvRequest) -> Retries:
        if self._retries is None:
            self._retries = Retries(self._kv, request)
        return self._retries
