"""Model M on Pessim's own engine: ``LeanEnv``, stations that answer at once, one object a request.

A request is re-armed as a call along its way. A moment that nobody can observe has no event: the
start of a transmission, the arrival at a log that is busy, an acknowledgement beyond the second,
the commit of a lock that was answered, the answers before the last one of a prewrite. The naive
twin proves that nobody could observe them.
"""

from heapq import heappop, heappush
from itertools import permutations

from benchmarks import kernel_model as m
from sim.engine import GroupServer, Inlet, LeanEnv, SampledServer, SampledServers

LOCK, PREWRITE, COMMIT, BACKGROUND = range(4)
NEVER = 1 << 62


def link(env: LeanEnv, draws: m.Draws, name: str) -> SampledServer:
    """Returns one direction between two nodes: one message at a time, then the way."""
    return SampledServer(env, draws.times(name, m.TRANSMISSION_MEAN), m.PROPAGATION)


class Request:
    """One request of a client to a region, and the log entry it makes."""

    __slots__ = ("client", "first_ack", "kind", "quorum", "store")

    def __init__(self, client: "Client", store: "Store", kind: int) -> None:
        self.client = client
        self.store = store
        self.kind = kind
        self.first_ack = 0
        self.quorum = NEVER


class Store:
    """A store: scheduler pool, log, apply thread, and the links that leave it."""

    __slots__ = (
        "_apply",
        "_early_answer",
        "_env",
        "_lock_proposals",
        "_log",
        "_own_log",
        "_sync_times",
        "_to_followers",
        "_to_leaders",
        "_unheard",
        "_unheard_entries",
        "arrive",
        "to_sql",
    )

    def __init__(self, env: LeanEnv, draws: m.Draws, number: int, mode: str) -> None:
        name = f"store-{number}"
        self._env = env
        self._early_answer = mode != "sync"
        self._lock_proposals = mode != "in_memory"
        scheduler_times = draws.times(f"{name}/scheduler", m.SCHEDULER_MEAN)
        scheduler = SampledServers(env, scheduler_times, m.SCHEDULER_THREADS, self.execute)
        self.arrive = scheduler.enter
        self._apply = SampledServer(env, draws.times(f"{name}/apply", m.APPLY_MEAN))
        self._sync_times = draws.times(f"{name}/log", m.SYNC_MEAN)
        self._unheard: list[tuple[int, int, Request]] = []
        self._unheard_entries = 0
        self._log = GroupServer(env, self._sync_time, self._synced)
        self._own_log = self._log.inlet()
        self._to_followers: list[tuple[SampledServer, Inlet]] = []
        self._to_leaders: list[tuple[SampledServer, Store]] = []
        self.to_sql = [link(env, draws, f"{name}->sql-{i}") for i in range(m.SQL_NODES)]

    def connect(self, other: "Store", wire: SampledServer) -> None:
        """Leads ``wire`` to another store, for proposals there and acknowledgements back."""
        self._to_followers.append((wire, other._log.inlet()))
        self._to_leaders.append((wire, other))

    def execute(self, request: Request) -> None:
        """Proposes what has to be proposed, and answers a lock unless it waits for apply."""
        if request.kind == LOCK and self._early_answer:
            client = request.client
            self.to_sql[client.sql].submit(client.locked, None)
            if not self._lock_proposals:
                return
        now = self._env.now_ns
        self._own_log.announce(now, request)
        for wire, log in self._to_followers:
            log.announce(wire.reserve(now), request)

    def answer(self, request: Request) -> None:
        """Sends the answer to the client's SQL node."""
        client, kind = request.client, request.kind
        wire = self.to_sql[client.sql]
        if kind == PREWRITE:
            client.prewrite_answered(wire.reserve(self._env.now_ns))
        elif kind == BACKGROUND:
            wire.reserve(self._env.now_ns)
        else:
            wire.submit(client.locked if kind == LOCK else client.committed, None)

    def _sync_time(self, entries: int) -> int:
        return m.SYNC_LEAST + self._sync_times.draw() + entries * m.SYNC_PER_ENTRY

    def _synced(self, groups: list[list[Request]]) -> None:
        """Lets the leaders know that a group is durable here."""
        now = self._env.now_ns
        own = groups[0]
        self.acknowledge(own, [now] * len(own))
        for (wire, leader), group in zip(self._to_leaders, groups[1:], strict=True):
            leader.acknowledge(group, wire.reserve_many(now, len(group)))

    def acknowledge(self, group: list[Request], times: list[int]) -> None:
        """Notes when the leader will know of one more copy of each entry, now or later."""
        now = self._env.now_ns
        for request, known in zip(group, times, strict=True):
            first = request.first_ack
            if not first:
                request.first_ack = known
            elif known < request.quorum:
                # The second one known; or the third, sent later, that still comes in before.
                quorum = known
                if known < first:
                    request.first_ack = known
                    quorum = first
                request.quorum = quorum
                if quorum == now:
                    self.commit(request)
                elif request.kind == LOCK and self._early_answer:
                    self._unheard_entries += 1
                    heappush(self._unheard, (quorum, self._unheard_entries, request))
                else:
                    self._env.at(quorum, self.commit, request)

    def commit(self, request: Request) -> None:
        """Applies an entry that two of three have, at the first moment at which they have.

        Locks that were answered when proposed are applied without anybody hearing of it; they only
        take the apply thread's time, and are caught up with before the next entry that is heard.
        """
        now = self._env.now_ns
        if request.quorum != now:
            return
        unheard = self._unheard
        while unheard and unheard[0][0] < now:
            known, _, entry = heappop(unheard)
            if entry.quorum == known:
                self._apply.reserve(known)
        if request.kind != LOCK or not self._early_answer:
            self._apply.submit(self.answer, request)
        else:
            self._apply.reserve(now)


class Client:
    """One client: thinks, runs a transaction, and begins again."""

    __slots__ = (
        "_answers_due",
        "_asked",
        "_began",
        "_choices",
        "_env",
        "_last_answer",
        "_leaders",
        "_lock_latencies",
        "_locks",
        "_number",
        "_think_times",
        "_touched",
        "_txn_latencies",
        "sql",
    )

    def __init__(self, env: LeanEnv, draws: m.Draws, number: int, outcome: m.Outcome) -> None:
        self._env = env
        self._number = number
        self._choices = draws.choices(number)
        self._think_times = draws.times(f"client-{number}/think", m.THINK_MEAN)
        self._lock_latencies = outcome.lock_latencies[number]
        self._txn_latencies = outcome.txn_latencies[number]
        self.sql = number % m.SQL_NODES
        self._leaders: list[tuple[SampledServer, Store]] = []
        self._locks: list[int] = []
        self._touched: list[int] = []
        self._began = 0
        self._asked = 0
        self._answers_due = 0
        self._last_answer = 0

    def connect(self, leaders: list[tuple[SampledServer, Store]]) -> None:
        """Learns its SQL node's links and where they lead, and begins to think."""
        self._leaders = leaders
        self._env.at(self._env.now_ns + self._think_times.draw(), self.begin, None)

    def begin(self, _: None) -> None:
        """Begins a transaction."""
        self._began = self._asked = self._env.now_ns
        self._locks = m.choose_regions(self._number, self._choices)
        self._touched = list(dict.fromkeys(self._locks))
        self._locks.reverse()
        self._send(LOCK, self._locks.pop())

    def _send(self, kind: int, region: int) -> None:
        wire, store = self._leaders[region % m.STORES]
        wire.submit(store.arrive, Request(self, store, kind))

    def prewrite_answered(self, at: int) -> None:
        """Hears from a store that its answer will be here at ``at``; only the last one counts."""
        self._last_answer = max(self._last_answer, at)
        self._answers_due -= 1
        if not self._answers_due:
            self._env.at(self._last_answer, self.prewritten, None)

    def locked(self, _: None) -> None:
        """Asks for the next lock, or prewrites."""
        now = self._env.now_ns
        self._lock_latencies.append(now - self._asked)
        if self._locks:
            self._asked = now
            self._send(LOCK, self._locks.pop())
            return
        self._answers_due = len(self._touched)
        self._last_answer = 0
        for region in self._touched:
            self._send(PREWRITE, region)

    def prewritten(self, _: None) -> None:
        """Commits the first region."""
        self._send(COMMIT, self._touched[0])

    def committed(self, _: None) -> None:
        """Answers, commits the other regions in the background, and thinks."""
        now = self._env.now_ns
        self._txn_latencies.append(now - self._began)
        for region in self._touched[1:]:
            self._send(BACKGROUND, region)
        self._env.at(now + self._think_times.draw(), self.begin, None)


def run(mode: str, seed: int, until: int) -> m.Outcome:
    """Plays the model from 0 to ``until`` ticks."""
    env = LeanEnv()
    draws = m.Draws(seed)
    outcome = m.Outcome()
    stores = [Store(env, draws, number, mode) for number in range(m.STORES)]
    for a, b in permutations(range(m.STORES), 2):
        stores[a].connect(stores[b], link(env, draws, f"store-{a}->store-{b}"))
    leaders = [
        [
            (link(env, draws, f"sql-{i}->store-{number}"), store)
            for number, store in enumerate(stores)
        ]
        for i in range(m.SQL_NODES)
    ]
    for number in range(m.CLIENTS):
        client = Client(env, draws, number, outcome)
        client.connect(leaders[client.sql])
    env.run_until(until)
    outcome.events = env.events
    return outcome
