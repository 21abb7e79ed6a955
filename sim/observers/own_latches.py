"""Prewrites behind the latches of their own transaction's locks.

A pipelined lock is answered when it is proposed and keeps its latches until it is applied, so the
prewrite of a commit that follows at once waits for them. A lock in memory, or one that is answered
after apply, has released its latches before the answer leaves.

Measured twice, independently. The latches report which command released what a prewrite waited for.
Time stamps tell which prewrites arrived before a lock of their transaction, on one of their keys,
was applied (*early*), and whether they ran after that (``waited``) or before (``overtook``).

Source: tikv/tikv#8045; src/storage/txn/scheduler.rs (on_write_finished).
"""

from typing import Final

from sim.engine import LeanEnv
from sim.protocol.region_errors import RegionError
from sim.raftstore.peer import Peer
from sim.record.recorder import Recorder
from sim.storage.probe import Probe
from sim.storage.request import Kind, KvRequest

_LOCK: Final = Kind.LOCK
_PREWRITE: Final = Kind.PREWRITE


class OwnLatches(Probe):
    """Feeds ``own_latch_wait``, ``own_latch_waits`` (by path of the lock), ``early_prewrites``."""

    def __init__(self, env: LeanEnv, recorder: Recorder) -> None:
        self._env = env
        self._recorder = recorder
        self._waited = recorder.counter("early_prewrites", "waited")
        self._overtook = recorder.counter("early_prewrites", "overtook")
        self._open: dict[int, list[KvRequest]] = {}
        """By running transaction, granted locks that were not applied when they were answered."""

    def granted(self, peer: Peer, request: KvRequest) -> None:
        """Notes a lock that was answered before its records are applied."""
        del peer
        if request.reply_at_proposed and not request.applied_ns:
            self._open.setdefault(request.start_ts, []).append(request)

    def proposal_lost(self, request: KvRequest, error: RegionError) -> None:
        """Forgets a lock that will never be applied."""
        del error
        held = self._open.get(request.start_ts, [])
        if request in held:
            held.remove(request)

    def prewrite_ran(self, request: KvRequest) -> None:
        """Counts a prewrite that came before one of its locks was applied, once."""
        held = self._open.get(request.start_ts)
        if held is None:
            return
        early = [lock for lock in held if _is_early(request, lock)]
        if not early:
            return
        if all(0 < lock.applied_ns <= request.latched_ns for lock in early):
            self._waited.value += 1
        else:
            self._overtook.value += 1

    def latch_passed_on(self, holder: KvRequest, waiter: KvRequest) -> None:
        """Counts a prewrite that waited for the latches of a lock of its own transaction."""
        own = holder.start_ts == waiter.start_ts
        if own and waiter.kind is _PREWRITE and holder.kind is _LOCK:
            path = holder.path.name.lower()
            self._recorder.counter("own_latch_waits", path).value += 1
            waited_ns = self._env.now_ns - waiter.arrived_ns
            self._recorder.series("own_latch_wait", path).add(waited_ns)

    def transaction_ended(self, start_ts: int, outcome: str, reason: str) -> None:
        """Forgets a transaction."""
        del outcome, reason
        self._open.pop(start_ts, None)


def _is_early(prewrite: KvRequest, lock: KvRequest) -> bool:
    """Returns whether a prewrite reached the same replica before a lock on its keys was applied."""
    if lock.peer is not prewrite.peer or 0 < lock.applied_ns <= prewrite.arrived_ns:
        return False
    return any(mutation.key in lock.keys for mutation in prewrite.mutations)
