"""What sessions count: transactions, locks and where a lock's time went."""

from collections.abc import Iterator
from typing import Final

from sim.record.recorder import Recorder
from sim.storage.request import Kind, KvRequest, LockPath

PATH_NAMES: Final = ("in_memory", "pipelined", "sync", "fallback")
"""By ``LockPath``."""

_FALLBACK: Final = LockPath.FALLBACK

STATIONS: Final = ("request", "latch", "scheduler", "propose", "replicate", "apply", "reply")
"""Where a lock request spends its time: TiDB to store; waiting for latches; pool and command;
waiting for and at a store poller; persisted by a majority and committed; applied; store to TiDB."""


class Population:
    """How many transactions are in the system, as an area under a curve; all times in ns.

    Invariant (Little): over any time, the area under the number in the system is the sum of the
    stays, those not yet over included. The stays of what has ended are not known here: they come
    from the latencies that were recorded, so that the two can be compared.

    Source: J. D. C. Little, A proof for the queuing formula L = lambda W, 1961 (sample-path form).
    """

    def __init__(self) -> None:
        self._tickets = 0
        self._present: dict[int, tuple[str, int]] = {}
        """By ticket: the name of each transaction in the system, and when it entered."""
        self._area_ns = 0
        self._changed_ns = 0

    @property
    def present(self) -> int:
        """Returns how many are in the system now."""
        return len(self._present)

    def enter(self, now_ns: int, name: str) -> int:
        """Notes the intended start of a transaction; returns the ticket to leave with."""
        self._advance(now_ns)
        self._tickets += 1
        self._present[self._tickets] = name, now_ns
        return self._tickets

    def leave(self, now_ns: int, ticket: int) -> None:
        """Notes the end of a transaction."""
        self._advance(now_ns)
        del self._present[ticket]

    def area_ns(self, now_ns: int) -> int:
        """Returns the area under the number in the system until ``now_ns``."""
        return self._area_ns + self.present * (now_ns - self._changed_ns)

    def unfinished_ns(self, now_ns: int) -> int:
        """Returns how long those in the system have stayed so far, in sum."""
        return sum(age_ns for _, age_ns in self.unfinished(now_ns))

    def unfinished(self, now_ns: int) -> Iterator[tuple[str, int]]:
        """Yields the name of each transaction in the system, and for how long it has been there."""
        for name, entered_ns in self._present.values():
            yield name, now_ns - entered_ns

    def _advance(self, now_ns: int) -> None:
        self._area_ns += self.present * (now_ns - self._changed_ns)
        self._changed_ns = now_ns


class ClientStats:
    """The counters of all sessions of a run."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._lock_latency = [recorder.series("lock_latency", path) for path in PATH_NAMES]
        self._lock_service = [recorder.series("lock_service", path) for path in PATH_NAMES]
        self._lock_stations = [
            [recorder.counter("lock_station_ns", f"{path}/{station}") for station in STATIONS]
            for path in PATH_NAMES
        ]
        self.lock_wait = recorder.series("lock_wait", "all")
        self.by_kind = {
            Kind.LOCK: recorder.counter("lock_rpcs"),
            Kind.PREWRITE: recorder.counter("prewrite_rpcs"),
            Kind.COMMIT: recorder.counter("commit_rpcs"),
        }
        names = [kind.name.lower() for kind in Kind]
        self._answered = [recorder.counter("requests_answered", name) for name in names]
        self._request_ns = [recorder.counter("request_ns", name) for name in names]
        self._service_ns = [recorder.counter("request_service_ns", name) for name in names]
        self.locked_keys = recorder.counter("locked_keys")
        self.mutations = recorder.counter("mutations")
        self.amended = recorder.counter("amended_prewrites")
        self.statement_retries = recorder.counter("statement_retries")
        self.started = recorder.counter("txns_started")
        self.population = Population()
        self._committed = 0
        self._aborted = 0
        self.stays_ns = 0
        """Latencies of all transactions that have ended, whatever their outcome."""

    def request_answered(self, request: KvRequest) -> None:
        """Counts a request's last answer, and apart from it the wait for other transactions."""
        kind = request.kind
        waited_ns = request.waited_ns
        if waited_ns:
            self.lock_wait.add(waited_ns)
        self._answered[kind].value += 1
        self._request_ns[kind].value += request.done_ns - request.sent_ns - waited_ns
        self._service_ns[kind].value += request.replied_ns - request.arrived_ns - waited_ns

    def lock_replied(self, request: KvRequest) -> None:
        """Counts a granted lock request, without the time it waited for other transactions."""
        path = request.path
        self._lock_latency[path].add(request.done_ns - request.sent_ns - request.waited_ns)
        self._lock_service[path].add(request.replied_ns - request.arrived_ns - request.waited_ns)
        name = PATH_NAMES[path]
        if path is _FALLBACK:
            name = f"fallback:{request.fallback}"
        self._recorder.counter("locks_total", name).value += 1
        self._count_stations(request)

    def _count_stations(self, request: KvRequest) -> None:
        sent, latch, scheduler, propose, replicate, apply, reply = self._lock_stations[request.path]
        sent.value += request.arrived_ns - request.sent_ns
        latch.value += request.latched_ns - request.arrived_ns - request.waited_ns
        scheduler.value += request.executed_ns - request.latched_ns
        if request.reply_at_proposed:
            propose.value += request.replied_ns - request.executed_ns
        elif request.proposed_ns:
            propose.value += request.proposed_ns - request.executed_ns
            replicate.value += request.committed_ns - request.proposed_ns
            apply.value += request.replied_ns - request.committed_ns
        reply.value += request.done_ns - request.replied_ns

    def region_error(self, name: str) -> None:
        """Counts a region error under TiKV's name."""
        self._recorder.counter("region_errors", name).value += 1

    def backed_off(self, kind: str, wait_ns: int) -> None:
        """Counts the time for which a request is held back before it is sent again."""
        self._recorder.counter("backoff_ns", kind).value += wait_ns

    def committed(self, name: str, latency_ns: int) -> None:
        """Counts a transaction that its client knows to be committed."""
        self._recorder.counter("txns", name).value += 1
        self._recorder.series("txn_latency", name).add(latency_ns)
        self._committed += 1
        self.stays_ns += latency_ns

    def aborted(self, reason: str, latency_ns: int) -> None:
        """Counts a transaction that ended without a commit, and why."""
        self._recorder.counter("txn_aborts", reason).value += 1
        self._recorder.counter("txn_aborted_ns", reason).value += latency_ns
        self._aborted += 1
        self.stays_ns += latency_ns

    def total_committed(self) -> int:
        """Returns how many transactions have been committed so far."""
        return self._committed

    def total_aborted(self) -> int:
        """Returns how many transactions have ended otherwise so far."""
        return self._aborted

    def total_ended(self) -> int:
        """Returns how many transactions have ended so far, however they did."""
        return self._committed + self._aborted
