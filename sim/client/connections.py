"""The connections of one TiDB node: what is in flight, and what becomes of it when one breaks.

A store that dies resets its connections: whatever was in flight fails half a round trip later, and
new requests are refused after a round trip. A cut link says nothing: what is sent into it, either
way, is delivered if the link heals in time (TCP sends it again); otherwise gRPC's keepalive finds
out, everything in flight fails, and later requests fail after an attempt to connect. A request that
is never answered fails after its timeout.

Source: tikv/client-go config/client.go (GrpcKeepAliveTime 10 s, GrpcKeepAliveTimeout 3 s,
StoreLivenessTimeout 1 s), internal/client/client.go (ReadTimeoutMedium, 30 s for writes).
"""

from collections.abc import Callable, Generator, Iterable
from typing import Any, Final

from sim.engine import LeanEnv, Wait
from sim.hardware.network import Link
from sim.protocol.region_errors import RegionError, RpcError
from sim.storage.request import Caller, KvRequest
from sim.transport.transport import KEEPALIVE_NS
from sim.units import NS_PER_S

CONNECT_NS: Final = 1 * NS_PER_S
"""How long a store that does not answer is tried before a request to it fails."""

RPC_TIMEOUT_NS: Final = 30 * NS_PER_S

TIMEOUT_SCAN_NS: Final = 10 * NS_PER_S
"""At most this long between two calls of ``scan_timeouts``."""

_PING_BYTES = 64
"""A packet without data: a connection refused or reset. ASSUMED; only its latency matters."""


class _NotInFlight:
    """Caller of a request that has not been sent, or has been answered."""

    def replied(self, request: KvRequest) -> None:
        """Refuses: a request is put into a group before it is sent."""
        raise AssertionError(f"an answer to a request that is not in flight: {request}")


class _Abandoned:
    """Caller of a request that its client has given up."""

    def replied(self, request: KvRequest) -> None:
        """Drops the late reply."""


NOT_IN_FLIGHT: Final = _NotInFlight()
ABANDONED: Final = _Abandoned()


class InFlight:
    """Requests that were sent together, as far as connections know them."""

    __slots__ = ()

    requests: list[KvRequest]
    began_ns: int
    """When they were sent for the first time."""
    failure: RegionError | None
    """Why one of the requests has no other answer; None if all have."""

    def replied(self, request: KvRequest) -> None:
        """Takes the answer to one of the requests."""
        raise NotImplementedError

    def lost(self, request: KvRequest, error: RegionError) -> None:
        """Takes ``error`` for the answer to a request that is still on its way."""
        raise NotImplementedError


class _Outage:
    """Why one connection does not work."""

    def __init__(self) -> None:
        self.is_down = False
        """The store's process does not run."""
        self.is_cut = False
        self.cut_ns = 0
        self.noticed = False
        """Keepalive has found the cut."""
        self.died = False
        """The store has died behind the cut: it knows nothing of this connection any more."""
        self.held: list[KvRequest] = []
        """Sent into the cut before it was noticed."""


class Connections:
    """From one TiDB node to every store."""

    def __init__(
        self, env: LeanEnv, links: dict[int, Link], send: Callable[[KvRequest], None]
    ) -> None:
        self._env = env
        self._links = links
        self._send = send
        self._scanned_ns = 0
        self.in_flight: dict[InFlight, None] = {}
        """What waits for answers, in the order of sending (a dict as an ordered set)."""
        self.broken: dict[int, _Outage] = {}
        """Connections that do not work, by store; a working cluster has none."""

    def is_known_broken(self, store: int) -> bool:
        """Returns whether this node knows that it does not reach ``store``."""
        outage = self.broken.get(store)
        return outage is not None and (outage.noticed or not outage.is_cut)

    def intercepts(self, request: KvRequest) -> bool:
        """Returns whether the connection of a request is broken; if so, it is dealt with here."""
        outage = self.broken.get(request.store)
        if outage is None:
            return False
        if not outage.is_cut:
            refused_ns = self._links[request.store].round_trip(self._env.now_ns, _PING_BYTES)
            self._fail_at(refused_ns, [request], "connection refused")
        elif outage.noticed:
            self._fail_at(self._env.now_ns + CONNECT_NS, [request], "connect timeout")
        else:
            outage.held.append(request)
        return True

    def store_crashed(self, store: int) -> None:
        """A store's process has died; its machine resets the connections."""
        outage = self.broken.setdefault(store, _Outage())
        outage.is_down = True
        if outage.is_cut:
            outage.died = True
        else:
            reset_ns = self._links[store].send(self._env.now_ns, _PING_BYTES)
            self._fail_at(reset_ns, self._in_flight_to(store), "connection reset")

    def store_started(self, store: int) -> None:
        """A store's process takes connections again."""
        self.broken.setdefault(store, _Outage()).is_down = False
        self._end_outage(store)

    def link_cut(self, store: int) -> None:
        """Nothing gets through to or from a store any more."""
        outage = self.broken.setdefault(store, _Outage())
        if not outage.is_cut:
            outage.is_cut = True
            outage.cut_ns = self._env.now_ns
            self._env.process(self._keepalive(store, outage))

    def link_healed(self, store: int) -> None:
        """Messages get through again; what was sent into the cut is delivered."""
        outage = self.broken.setdefault(store, _Outage())
        outage.is_cut = outage.noticed = False
        self._end_outage(store)
        held, outage.held = outage.held, []
        arrived_ns = self._links[store].send(self._env.now_ns, _PING_BYTES)
        if outage.died:
            outage.died = False
            self._fail_at(arrived_ns, self._in_flight_to(store), "connection reset")
            return
        for request in self._in_flight_to(store):
            if request.replied_ns >= max(outage.cut_ns, request.sent_ns):
                self._env.at(arrived_ns, _deliver, (request, request.caller))
        for request in held:
            if _is_awaited(request):
                self._send(request)

    def scan_timeouts(self) -> None:
        """Lets requests that are not answered fail in time."""
        if self._scanned_ns > self._env.now_ns + TIMEOUT_SCAN_NS:
            return
        until_ns = self._env.now_ns + 2 * TIMEOUT_SCAN_NS
        for group in self.in_flight:
            for request in group.requests:
                fails_ns = request.sent_ns + RPC_TIMEOUT_NS
                if self._scanned_ns < fails_ns <= until_ns and _is_awaited(request):
                    self._fail_at(fails_ns, [request], "timeout")
        self._scanned_ns = until_ns

    def _keepalive(self, store: int, outage: _Outage) -> Generator[Wait, Any, None]:
        """Finds out about a cut after a ping without an answer."""
        yield KEEPALIVE_NS
        if outage.is_cut and self.broken.get(store) is outage:
            outage.noticed = True
            outage.held.clear()
            self._fail_at(self._env.now_ns, self._in_flight_to(store), "timeout")

    def _end_outage(self, store: int) -> None:
        outage = self.broken[store]
        if not (outage.is_cut or outage.is_down):
            del self.broken[store]

    def _in_flight_to(self, store: int) -> list[KvRequest]:
        return [
            request
            for group in self.in_flight
            for request in group.requests
            if request.store == store and _is_awaited(request)
        ]

    def _fail_at(self, at_ns: int, requests: Iterable[KvRequest], reason: str) -> None:
        for request in requests:
            self._env.at(at_ns, _fail, (request, request.sent_ns, reason))


def _is_awaited(request: KvRequest) -> bool:
    return request.caller is not NOT_IN_FLIGHT and request.caller is not ABANDONED


def _fail(failing: tuple[KvRequest, int, str]) -> None:
    """Answers a request with an error, unless it was answered or sent again in the meantime."""
    request, sent_ns, reason = failing
    if not _is_awaited(request) or request.sent_ns != sent_ns:
        return
    caller, error = request.caller, RpcError(request.store, reason)
    if isinstance(caller, InFlight):
        caller.lost(request, error)
        return
    request.caller = ABANDONED
    request.result = error
    caller.replied(request)


def _deliver(answered: tuple[KvRequest, Caller]) -> None:
    """Delivers an answer that was lost in a cut, unless its request was sent again meanwhile."""
    request, caller = answered
    if request.caller is caller:
        caller.replied(request)
