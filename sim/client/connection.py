"""The connections of one TiDB node: what is in flight, and what becomes of it when one breaks.

Law: a store that dies resets its connections, and whatever was in flight fails half a round trip
later; who connects to it then is refused after a round trip. A cut link says nothing. What is sent
into it, either way, waits to be delivered, and is if the link heals in time (TCP sends it again);
else keepalive finds out and
everything in flight fails, and later requests fail after an attempt to connect. A request that is
not answered at all fails after its timeout.

Source: tikv/client-go config/client.go (GrpcKeepAliveTime 10 s, GrpcKeepAliveTimeout 3 s,
StoreLivenessTimeout 1 s), internal/client/client.go (ReadTimeoutMedium, 30 s for writes).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sim.client.callers import FORGOTTEN, is_awaited
from sim.client.requests import RequestGroup
from sim.protocol.region_errors import RpcError
from sim.transport.transport import KEEPALIVE_NS
from sim.units import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sim.engine import LeanEnv
    from sim.hardware.network import Link
    from sim.storage.request import Caller, KvRequest

CONNECT_NS: Final = 1 * NS_PER_S
"""How long a store that does not answer is tried before a request to it fails."""

RPC_TIMEOUT_NS: Final = 30 * NS_PER_S

LOOK_NS: Final = 10 * NS_PER_S
"""At most this long between two calls of ``look``."""

_PING_BYTES = 64
"""A packet without data: a connection refused or reset. ASSUMED; only its latency matters."""


class _Outage:
    """Why one connection does not work."""

    __slots__ = ("cut_ns", "died", "held", "is_cut", "is_down", "noticed")

    def __init__(self) -> None:
        self.cut_ns = 0
        self.died = False
        """The store has died behind the cut: it knows nothing of this connection any more."""
        self.is_down = False
        self.is_cut = False
        self.noticed = False
        """Keepalive has found the cut."""
        self.held: list[KvRequest] = []
        """Sent into the cut, before it was noticed."""


class Connections:
    """From one TiDB node to every store."""

    __slots__ = ("_env", "_links", "_looked_ns", "_send", "broken", "groups")

    def __init__(
        self, env: LeanEnv, links: dict[int, Link], send: Callable[[KvRequest], None]
    ) -> None:
        self._env = env
        self._links = links
        self._send = send
        self._looked_ns = 0
        self.groups: dict[RequestGroup, None] = {}
        """Whose answers are awaited, in the order of their sending (a dict as an ordered set)."""
        self.broken: dict[int, _Outage] = {}
        """Connections that do not work, by store; a working cluster has none."""

    def is_known_broken(self, store: int) -> bool:
        """Returns whether this node knows that it does not reach ``store``."""
        outage = self.broken.get(store)
        return outage is not None and (outage.noticed or not outage.is_cut)

    def takes(self, request: KvRequest) -> bool:
        """Returns whether a request gets nowhere now, and sees to it if so."""
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
        outage = self._outage(store)
        outage.is_down = True
        if outage.is_cut:
            outage.died = True
        else:
            reset_ns = self._links[store].send(self._env.now_ns, _PING_BYTES)
            self._fail_at(reset_ns, self._in_flight(store), "connection reset")

    def store_started(self, store: int) -> None:
        """A store's process takes connections again."""
        self._outage(store).is_down = False
        self._mend(store)

    def link_cut(self, store: int) -> None:
        """Nothing gets through to or from a store any more."""
        outage = self._outage(store)
        if not outage.is_cut:
            outage.is_cut = True
            outage.cut_ns = self._env.now_ns
            self._env.at(self._env.now_ns + KEEPALIVE_NS, self._notice, (store, outage))

    def link_healed(self, store: int) -> None:
        """Messages get through again; what has waited for that is sent."""
        outage = self._outage(store)
        outage.is_cut = outage.noticed = False
        self._mend(store)
        held, outage.held = outage.held, []
        arrived_ns = self._links[store].send(self._env.now_ns, _PING_BYTES)
        if outage.died:
            outage.died = False
            self._fail_at(arrived_ns, self._in_flight(store), "connection reset")
            return
        for request in self._in_flight(store):
            if request.replied_ns >= max(outage.cut_ns, request.sent_ns):
                self._env.at(arrived_ns, _deliver, (request, request.caller))
        for request in held:
            if is_awaited(request):
                self._send(request)

    def look(self) -> None:
        """Lets what gets no answer fail in time; to be called every ``LOOK_NS`` or more often."""
        if self._looked_ns > self._env.now_ns + LOOK_NS:
            return
        until_ns = self._env.now_ns + 2 * LOOK_NS
        for group in self.groups:
            for request in group.requests:
                fails_ns = request.sent_ns + RPC_TIMEOUT_NS
                if self._looked_ns < fails_ns <= until_ns and is_awaited(request):
                    self._fail_at(fails_ns, [request], "timeout")
        self._looked_ns = until_ns

    def _outage(self, store: int) -> _Outage:
        outage = self.broken.get(store)
        if outage is None:
            outage = self.broken[store] = _Outage()
        return outage

    def _mend(self, store: int) -> None:
        outage = self.broken[store]
        if not (outage.is_cut or outage.is_down):
            del self.broken[store]

    def _notice(self, cut: tuple[int, _Outage]) -> None:
        store, outage = cut
        if outage.is_cut and self.broken.get(store) is outage:
            outage.noticed = True
            outage.held.clear()
            self._fail_at(self._env.now_ns, self._in_flight(store), "timeout")

    def _in_flight(self, store: int) -> list[KvRequest]:
        return [
            request
            for group in self.groups
            for request in group.requests
            if request.store == store and is_awaited(request)
        ]

    def _fail_at(self, at_ns: int, requests: Sequence[KvRequest], reason: str) -> None:
        for request in requests:
            self._env.at(at_ns, _fail, (request, request.sent_ns, reason))


def _fail(failing: tuple[KvRequest, int, str]) -> None:
    request, sent_ns, reason = failing
    if not is_awaited(request) or request.sent_ns != sent_ns:
        return
    caller, error = request.caller, RpcError(request.store, reason)
    if isinstance(caller, RequestGroup):
        caller.lost(request, error)
        return
    request.caller = FORGOTTEN
    request.result = error
    caller.replied(request)


def _deliver(answered: tuple[KvRequest, Caller]) -> None:
    """Delivers an answer that was lost in a cut."""
    request, caller = answered
    if request.caller is caller:
        caller.replied(request)
