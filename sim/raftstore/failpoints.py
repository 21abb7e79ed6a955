"""Named points at which the model can be held up and later released: failpoints.

Invariant: with nothing held, a point costs one look at ``active``. What is held up at a point goes
on from there, in the order of arrival, when the point is released.

Source of the idea: tikv/tikv ``fail_point!`` (components, src/storage/txn/scheduler.rs).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sim.raftstore.peer import STOPPED, Peer

POINTS: Final[dict[str, str]] = {
    "after_snapshot": "a command has taken its snapshot and is about to run",
    "before_write": "a command has run, and what it says is about to be written",
    "before_propose": "a command waits in the peer's mailbox for a store poller",
    "proposed": "a pipelined lock is proposed and about to be answered",
    "before_append": "a poller's entries are about to be written to the raft log",
    "before_apply": "committed entries are about to be applied",
    "before_finish": "an applied command is about to be finished and answered",
    "before_propose_locks": "the table is closed; the locks of a transfer are not yet proposed",
    "before_propose_merge_locks": "the fence is passed; the locks of a merge are not yet proposed",
    "on_split_invalidate_locks": "a split is applied; the raftstore has not heard of it",
    "before_transfer_ack": "a transfer's target is about to answer its leader",
}
"""Name and where that is."""


class _Stopped(NamedTuple):
    point: str
    peer: Peer
    resume: Callable[[Any], object]
    arg: Any


@dataclass
class _FailingWrites:
    times: int
    store: int
    region: int
    proposed: bool


class FailPoints:
    """What is held up in one cluster."""

    def __init__(self) -> None:
        self.active = False
        """Whether anything is held at all."""
        self._held: dict[tuple[str, int, int], None] = {}
        self._stopped: list[_Stopped] = []
        self._failing: list[_FailingWrites] = []

    def hold(self, point: str, *, store: int = 0, region: int = 0) -> None:
        """Holds up whatever comes to ``point``, on one store or of one region only if given.

        Raises:
            KeyError: if there is no such point.
        """
        _ = POINTS[point]
        self._held[point, store, region] = None
        self.active = True

    def stops(self, point: str, peer: Peer, resume: Callable[[Any], object], arg: Any) -> bool:
        """Returns whether ``point`` is held; then ``resume(arg)`` is called when it is released.

        Only to be asked while ``active``.
        """
        store, region = peer.store, peer.region.region_id
        if not any(
            held == point and at in {0, store} and of in {0, region} for held, at, of in self._held
        ):
            return False
        self._stopped.append(_Stopped(point, peer, resume, arg))
        return True

    def run(
        self,
        point: str,
        peer: Peer,
        act: Callable[[Any], object],
        arg: Any,
        *,
        later: Callable[[Any], object] | None = None,
    ) -> None:
        """Calls ``act(arg)`` now, or when ``point`` is released; then ``later(arg)`` if given."""
        if not self.active or not self.stops(point, peer, later or act, arg):
            act(arg)

    def run_in_visit(
        self,
        point: str,
        peer: Peer,
        act: Callable[[Any], object],
        arg: Any,
        go_on: Callable[[Peer], object],
    ) -> None:
        """As ``run``, within a store poller's visit, which the point stops in the middle.

        Until then the peer takes no mail; afterwards ``go_on(peer)`` brings a poller.
        """

        def resume(arg: Any) -> None:
            if not peer.gone:
                act(arg)
                go_on(peer)

        if self.active and self.stops(point, peer, resume, arg):
            peer.turn = STOPPED
        else:
            act(arg)

    def release(self, point: str, *, store: int = 0, region: int = 0) -> None:
        """Releases what ``hold`` was told with the same words; other holds stay."""
        self._held.pop((point, store, region), None)
        self._look_again()
        waiting, self._stopped = self._stopped, []
        for stopped in waiting:
            if not self.stops(*stopped):
                stopped.resume(stopped.arg)

    def fail_writes(self, times: int, *, store: int, region: int, proposed: bool) -> None:
        """Lets the engine fail at the next writes, before or after they are proposed."""
        self._failing = [_FailingWrites(times, store, region, proposed)] if times else []
        self._look_again()

    def failing_write(self, peer: Peer) -> str:
        """Returns ``before`` or ``after`` if the engine fails at this write, else nothing.

        Only to be asked while ``active``.
        """
        for failing in self._failing:
            if failing.store in {0, peer.store} and failing.region in {0, peer.region.region_id}:
                failing.times -= 1
                if not failing.times:
                    self._failing = []
                    self._look_again()
                return "after" if failing.proposed else "before"
        return ""

    def _look_again(self) -> None:
        self.active = bool(self._held or self._failing)

    @property
    def is_stopping(self) -> bool:
        """Whether anything is held up now."""
        return bool(self._stopped)

    def held(self) -> list[tuple[str, int, int]]:
        """Returns what is held: point, store and region, the latter two 0 for all."""
        return list(self._held)

    def waiting(self, point: str) -> int:
        """Returns how many are stopped at ``point``."""
        return sum(stopped.point == point for stopped in self._stopped)
