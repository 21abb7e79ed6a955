"""How long requests and transactions take at a given load: the stations' times added up.

::

    in memory   network + scheduler + network
    pipelined     … + wait for a poller + its CPU
    sync          … + appends, fsync and answer of the quorum + apply
    prewrite, commit as sync

Requests sent together are waited for until the last one is back (order statistics); a commit
waits for the followers that make a majority. A prewrite waits for the latches of an own pipelined
lock that is not applied yet. Transactions that want the same key wait for each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sim.estimate.formulas import excess, greatest_of, kth_of, mean_wait
from sim.estimate.moments import Distances, Time, distances
from sim.estimate.tidb_load import TidbLoad
from sim.units import NS_PER_S

if TYPE_CHECKING:
    from sim.estimate.dry_transaction import RequestKind
    from sim.estimate.footprint import Footprint
    from sim.estimate.store_load import StoreLoad
    from sim.estimate.store_model import StoreModel
    from sim.scenario.resolved import Scenario


@dataclass(frozen=True, slots=True)
class Times:
    """What a load does to times, in ns."""

    requests: dict[RequestKind, Time]
    """From being sent until the answer is back."""
    lock_service: float
    """A lock request inside its store."""
    proposed: float
    replicated: float
    """From proposed to committed."""
    applied: float
    """From committed to applied."""
    statement: float
    """A statement's round trip to the client and its CPU."""
    transaction: float
    held: float
    """How long a lock is held."""
    retries: float
    """Statements that are tried again, per transaction."""


class Paths:
    """The ways of one scenario with one lock mode."""

    def __init__(self, scenario: Scenario, footprint: Footprint, store: StoreModel) -> None:
        self._scenario = scenario
        self._footprint = footprint
        self._store = store
        self._tidb = TidbLoad(scenario)
        self._far: Distances = distances(scenario)
        tikv = scenario.tikv
        self._answered_when_proposed = tikv.pipelined
        clients = scenario.workload.threads
        self._others = 1.0 if clients is None else (clients - 1) / clients
        """Part of the jobs that one meets: in a closed loop nobody waits for himself (Schweitzer
        1979)."""
        self._fallback_waits = tikv.in_memory_fallback != "pipelined"

    def times(self, load: StoreLoad, *, in_memory: bool) -> Times:
        """Returns all times at a load.

        Args:
            load: what the stores let wait.
            in_memory: whether locks that are not refused stay in memory.
        """
        proposed = Time(load.poller_wait_ns + load.message_ns, load.poller_wait_ns**2)
        replicated = self._replicated(load)
        applied = load.apply_wait_ns + load.apply_ns
        hop = float(self._scenario.hardware.cpu.thread_hop_ns)
        durable = proposed.plus(replicated).plus(Time(applied + hop, load.apply_ns**2))
        requests: dict[RequestKind, Time] = {}
        for kind in self._footprint.requests:
            way = self._to_and_back(kind, load)
            if kind in ("prewrite", "commit", "rollback"):
                way = way.plus(durable)
            elif kind == "lock":
                way = way.plus(self._lock_way(load, proposed, durable, hop, in_memory=in_memory))
            requests[kind] = way
        waits_for_lock = self._latch_wait(load, replicated, applied, in_memory=in_memory)
        statement, cpu = self._statement(load)
        lock = requests.get("lock", Time(0.0))
        held = self._held(requests, statement)
        contention, retries = self._contention(load.txn_per_s, held, lock, cpu)
        transaction = self._waited(requests, statement) + waits_for_lock + contention
        return Times(
            requests=requests,
            lock_service=lock.mean - self._far.to_store.mean if lock.mean else 0.0,
            proposed=proposed.mean,
            replicated=replicated.mean,
            applied=applied,
            statement=statement,
            transaction=transaction,
            held=held,
            retries=retries,
        )

    def _replicated(self, load: StoreLoad) -> Time:
        """Returns the time from a command's being proposed until its commit."""
        followers = self._scenario.cluster.replicas - 1
        rest = (load.messages_per_round - 1) / 2 * load.message_ns
        wait = load.poller_wait_ns
        visit = Time(wait + load.message_ns + rest, wait * wait)
        own = Time(rest, 0.0).plus(load.log_wait)
        if not followers:
            return own
        one_way = self._far.between_stores.mean / 2, self._far.between_stores.variance / 4
        there = Time(rest, 0.0).plus(Time(*one_way)).plus(visit).plus(load.log_wait)
        back = there.plus(Time(*one_way))
        enough = (followers + 1) // 2
        answered = kth_of(enough, followers, back.mean, back.deviation)
        latest = answered + excess(own.mean - answered, (own.variance + back.variance) ** 0.5)
        return Time(latest, back.variance).plus(visit)

    def _to_and_back(self, kind: RequestKind, load: StoreLoad) -> Time:
        """Returns network and scheduler of a request."""
        cpu = self._scenario.hardware.cpu
        each = self._footprint.requests[kind]
        keys = each.keys / each.count
        spread = max(0.0, each.keys_squared / each.count - keys * keys)
        one = cpu.tikv_request_ns * load.slowness
        service = one * (1 + cpu.tikv_extra_key * (keys - 1))
        work = Time(service, (cpu.cv * service) ** 2 + (one * cpu.tikv_extra_key) ** 2 * spread)
        fetch = self._store.disk.fetch
        blocks = each.blocks / each.count
        varied = max(0.0, each.blocks_squared / each.count - blocks * blocks)
        fetched = Time(blocks * fetch.mean, varied * fetch.mean**2 + blocks * fetch.variance)
        pool = "read_pool" if kind in ("get", "batch_get", "cop") else "scheduler"
        threads, busy = load.servers[pool], load.busy[pool]
        arrivals = busy / (service + fetched.mean) if busy else 0.0
        wait = mean_wait(threads, min(arrivals, 0.98 * threads / (service + fetched.mean)),
                         service + fetched.mean)  # fmt: skip
        network = Time(self._far.to_store.mean, self._far.to_store.variance / 2)
        return network.plus(work).plus(fetched).plus(Time(wait, wait * wait))

    def _lock_way(
        self, load: StoreLoad, proposed: Time, durable: Time, hop: float, *, in_memory: bool
    ) -> Time:
        """Returns what the raftstore adds to a lock request."""
        answered = proposed.plus(Time(hop)) if self._answered_when_proposed else durable
        if not in_memory:
            return answered
        fallback = durable if self._fallback_waits else proposed.plus(Time(hop))
        share = load.lock_share
        mean = share * fallback.mean
        second = share * (fallback.variance + fallback.mean**2)
        return Time(mean, second - mean * mean)

    def _latch_wait(
        self, load: StoreLoad, replicated: Time, applied: float, *, in_memory: bool
    ) -> float:
        """Returns how long a transaction's prewrite waits for its own last pipelined lock."""
        pipelined = self._answered_when_proposed and (not in_memory or not self._fallback_waits)
        if not pipelined or not self._footprint.lock_requests:
            return 0.0
        statement, _ = self._statement(load)
        cpu = self._scenario.hardware.cpu
        gap = statement + self._far.to_store.mean
        if self._scenario.cluster.tidb.guarantee_linearizability:
            gap += self._far.to_pd.mean
        varied = (cpu.cv * cpu.tidb_statement_ns) ** 2 + self._far.client.variance
        late = excess(replicated.mean + applied - gap, (replicated.variance + varied) ** 0.5)
        return load.lock_share * late if in_memory else late

    def _statement(self, load: StoreLoad) -> tuple[float, float]:
        """Returns a statement's time with its round trip, and without."""
        met = load.txn_per_s * self._footprint.statements * self._others
        running, waiting = self._tidb.times_ns(met)
        delay = self._scenario.hardware.cpu.statement_delay_ns
        return self._far.client.mean + delay + running + waiting, running + waiting

    def _waited(self, requests: dict[RequestKind, Time], statement: float) -> float:
        """Returns a transaction's time without waiting for others' locks."""
        made = self._footprint
        rounds = sum(
            often * greatest_of(width, requests[kind].mean, requests[kind].deviation)
            for (kind, width), often in made.rounds.items()
        )
        return (
            made.statements * statement
            + made.timestamps * self._far.to_pd.mean
            + made.pause_ns
            + rounds
        )

    def _held(self, requests: dict[RequestKind, Time], statement: float) -> float:
        """Returns how long a transaction holds a lock, from the answer until it is free again."""
        made = self._footprint
        contention = made.contention
        if not contention.collision:
            return 0.0
        before, ending = 0.0, 0.0
        for (kind, width), often in made.rounds.items():
            took = often * greatest_of(width, requests[kind].mean, requests[kind].deviation)
            if kind in ("prewrite", "commit"):
                ending += took
            elif made.statements:
                before += took * contention.statements_held / made.statements
        in_background = made.requests["commit"].count if "commit" in made.requests else 0.0
        if in_background:
            ending += requests["commit"].mean
        ending -= self._far.to_store.mean / 2  # It is free before the answer is back.
        ordered = self._scenario.cluster.tidb.guarantee_linearizability
        ending += self._far.to_pd.mean * ordered
        return contention.statements_held * statement + contention.pause_held_ns + before + ending

    def _contention(
        self, txn_per_s: float, held: float, lock: Time, replan: float
    ) -> tuple[float, float]:
        """Returns the time a transaction waits for others' locks, and its statements tried again.

        The hottest key is a server of its own, whose customers are the transactions that lock it;
        all other keys are met while they are held with a probability, and then half their time is
        over. Without fair locking a woken transaction has to plan and ask once more.
        """
        contention = self._footprint.contention
        if not contention.collision:
            return 0.0, 0.0
        again = 0.0
        fair = self._scenario.cluster.tidb.fair_locking
        if not fair:
            again = self._far.to_store.mean / 2 + replan + self._far.to_pd.mean
        rate = txn_per_s / NS_PER_S
        cycle = held + lock.mean + again
        used = min(0.999, rate * contention.hottest * cycle)
        waits = contention.hottest * cycle * used / (1 - used) / 2
        others = max(0.0, contention.collision - contention.hottest**2)
        met = min(1.0, rate * (held + lock.mean) * others)
        waits += met * ((held + lock.mean) / 2 + again + lock.mean)
        return waits, 0.0 if fair else met + used * contention.hottest
