"""A server that takes everybody who waits: a log that syncs, a ferry, a batch.

Law: one group at a time; a group is whoever has arrived when the server becomes free. Arrivals come
through inlets, each in ascending order, as messages over one connection do. They may be announced
ahead, as soon as the sender knows when they will be: then a busy server needs no event for them,
only one for each group.
"""

from bisect import bisect_right
from collections.abc import Callable
from typing import Any

from sim.engine.environment import LeanEnv

_NEVER = 1 << 62


class GroupServer:
    """Serves all that waits as one group.

    Args of its two calls: ``service_ns(count)`` says when a group begins how long it will take;
    ``done(groups)`` is called at its end, after the next group has begun, with the members that
    came through each inlet, in the order of the inlets and of arrival.
    """

    __slots__ = (
        "_done",
        "_env",
        "_inlets",
        "_service_ns",
        "busy_ns",
        "groups",
        "wakes_at_ns",
    )

    def __init__(
        self,
        env: LeanEnv,
        service_ns: Callable[[int], int],
        done: Callable[[list[list[Any]]], object],
    ) -> None:
        self._env = env
        self._service_ns = service_ns
        self._done = done
        self._inlets: list[Inlet] = []
        self.wakes_at_ns = _NEVER
        """When the next group begins if nobody comes earlier; 0 while a group is being served."""
        self.busy_ns = 0
        """Service begun so far."""
        self.groups = 0
        """Groups begun so far."""

    def inlet(self) -> "Inlet":
        """Adds a way in; a group lists its members by inlet."""
        inlet = Inlet(self)
        self._inlets.append(inlet)
        return inlet

    def wake_at(self, time_ns: int) -> None:
        """Begins a group at ``time_ns``; for inlets only."""
        self.wakes_at_ns = time_ns
        self._env.at(time_ns, self._wake, time_ns)

    def _wake(self, time_ns: int) -> None:
        # A call for an earlier arrival may have come first; then this one has nothing to do.
        if time_ns == self.wakes_at_ns:
            self._begin(time_ns)

    def _begin(self, now_ns: int) -> None:
        groups = []
        count = 0
        for inlet in self._inlets:
            arrivals = inlet.arrivals_ns
            here = bisect_right(arrivals, now_ns)
            groups.append(inlet.items[:here])
            if here:
                count += here
                del arrivals[:here]
                del inlet.items[:here]
        self.wakes_at_ns = 0
        service_ns = self._service_ns(count)
        self.busy_ns += service_ns
        self.groups += 1
        self._env.at(now_ns + service_ns, self._finish, groups)

    def _finish(self, groups: list[list[Any]]) -> None:
        first_ns = min(
            [inlet.arrivals_ns[0] for inlet in self._inlets if inlet.arrivals_ns], default=_NEVER
        )
        if first_ns <= self._env.now_ns:
            self._begin(self._env.now_ns)
        elif first_ns < _NEVER:
            self.wake_at(first_ns)
        else:
            self.wakes_at_ns = _NEVER
        self._done(groups)


class Inlet:
    """One way into a group server; whoever comes through it comes in order."""

    __slots__ = ("_server", "arrivals_ns", "items")

    def __init__(self, server: GroupServer) -> None:
        self._server = server
        self.arrivals_ns: list[int] = []
        self.items: list[Any] = []

    def announce(self, arrival_ns: int, item: Any) -> None:
        """Lets ``item`` come in at ``arrival_ns``: now or later, not before the one before."""
        self.arrivals_ns.append(arrival_ns)
        self.items.append(item)
        if arrival_ns < self._server.wakes_at_ns:
            self._server.wake_at(arrival_ns)
