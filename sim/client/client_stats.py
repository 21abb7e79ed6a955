"""What sessions count: transactions, locks and where a lock's time went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sim.client.population import Population
from sim.storage.request import Kind, KvRequest, LockPath

if TYPE_CHECKING:
    from sim.record.recorder import Counter, Recorder, Series

PATH_NAMES: Final = ("in_memory", "pipelined", "sync", "fallback")
"""By ``LockPath``."""

_FALLBACK: Final = LockPath.FALLBACK

STATIONS: Final = ("request", "latch", "scheduler", "propose", "replicate", "apply", "reply")
"""A lock's way: TiDB to store; waiting for latches; pool and command; waiting for and at a store
poller; persisted by a majority and committed; applied; store to TiDB."""


class ClientStats:
    """The counters of all sessions of a run."""

    __slots__ = (
        "_aborts",
        "_lock_latency",
        "_lock_service",
        "_lock_stations",
        "_locks_total",
        "_recorder",
        "_txn_latency",
        "_txns",
        "amended",
        "by_kind",
        "lock_wait",
        "locked_keys",
        "mutations",
        "population",
        "started",
        "statement_retries",
        "stays_ns",
    )

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._lock_latency = [recorder.series("lock_latency", path) for path in PATH_NAMES]
        self._lock_service = [recorder.series("lock_service", path) for path in PATH_NAMES]
        self._lock_stations = [
            [recorder.counter("lock_station_ns", f"{path}/{station}") for station in STATIONS]
            for path in PATH_NAMES
        ]
        self._locks_total: dict[str, Counter] = {}
        self._txns: dict[str, Counter] = {}
        self._aborts: dict[str, Counter] = {}
        self._txn_latency: dict[str, Series] = {}
        self.lock_wait = recorder.series("lock_wait", "all")
        self.by_kind = {
            Kind.LOCK: recorder.counter("lock_rpcs"),
            Kind.PREWRITE: recorder.counter("prewrite_rpcs"),
            Kind.COMMIT: recorder.counter("commit_rpcs"),
        }
        self.locked_keys = recorder.counter("locked_keys")
        self.mutations = recorder.counter("mutations")
        self.amended = recorder.counter("amended_prewrites")
        self.statement_retries = recorder.counter("statement_retries")
        self.started = recorder.counter("txns_started")
        self.population = Population()
        self.stays_ns = 0
        """Latencies of all transactions that have ended, however they did."""

    def lock_replied(self, request: KvRequest) -> None:
        """Counts a granted lock request, without the time it waited for other transactions."""
        path = request.path
        if request.waited_ns:
            self.lock_wait.add(request.waited_ns)
        self._lock_latency[path].add(request.done_ns - request.sent_ns - request.waited_ns)
        self._lock_service[path].add(request.replied_ns - request.arrived_ns - request.waited_ns)
        name = PATH_NAMES[path]
        if path is _FALLBACK:
            name = f"fallback:{request.fallback}"
        counter = self._locks_total.get(name)
        if counter is None:
            counter = self._recorder.counter("locks_total", name)
            self._locks_total[name] = counter
        counter.value += 1
        self._note_stations(request)

    def _note_stations(self, request: KvRequest) -> None:
        stations = self._lock_stations[request.path]
        stations[0].value += request.arrived_ns - request.sent_ns
        stations[1].value += request.latched_ns - request.arrived_ns - request.waited_ns
        stations[2].value += request.executed_ns - request.latched_ns
        replied = request.replied_ns
        if request.proposed_ns:
            stations[3].value += request.proposed_ns - request.executed_ns
            if not request.reply_at_proposed:
                stations[4].value += request.committed_ns - request.proposed_ns
                stations[5].value += replied - request.committed_ns
        stations[6].value += request.done_ns - replied

    def region_error(self, name: str) -> None:
        """Counts a region error under TiKV's name."""
        self._recorder.counter("region_errors", name).value += 1

    def backed_off(self, kind: str, wait_ns: int) -> None:
        """Counts the time for which a request is held back before it is sent again."""
        self._recorder.counter("backoff_ns", kind).value += wait_ns

    def committed(self, name: str, latency_ns: int) -> None:
        """Counts a transaction that its client knows to be committed."""
        counter = self._txns.get(name)
        if counter is None:
            counter = self._txns[name] = self._recorder.counter("txns", name)
            self._txn_latency[name] = self._recorder.series("txn_latency", name)
        counter.value += 1
        self._txn_latency[name].add(latency_ns)
        self.stays_ns += latency_ns

    def aborted(self, reason: str, stay_ns: int) -> None:
        """Counts a transaction that ended without a commit after ``stay_ns``, and why."""
        self.stays_ns += stay_ns
        counter = self._aborts.get(reason)
        if counter is None:
            counter = self._aborts[reason] = self._recorder.counter("txn_aborts", reason)
        counter.value += 1

    def total_committed(self) -> int:
        """Returns how many transactions have been committed so far."""
        return sum(counter.value for counter in self._txns.values())

    def total_aborted(self) -> int:
        """Returns how many transactions have ended otherwise so far."""
        return sum(counter.value for counter in self._aborts.values())
