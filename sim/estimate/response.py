"""How long requests and transactions take at a given load: the stations' times added up.

::

    in memory   network + scheduler + network
    pipelined     … + wait for a poller + its CPU
    sync          … + appends, fsync and answer of the quorum + apply
    prewrite, commit as sync

Requests sent together are waited for until the last one is back, a commit for the followers that
make a majority: order statistics of the exponential part of each time (David, Nagaraja, Order
Statistics). Transactions that want the same key wait for each other.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp

from sim.client.tidb import CLIENT_WAKES
from sim.distributions import mean_ns
from sim.estimate.contention import LockConflicts
from sim.estimate.delay import Delay
from sim.estimate.footprint import Footprint
from sim.estimate.machines import client_machine, statement_ns, tidb_nodes
from sim.estimate.planned_request import RequestKind
from sim.estimate.ports import tidb_traffic
from sim.estimate.store import StoreModel
from sim.estimate.store_load import StoreLoad
from sim.scenario.resolved import Scenario
from sim.transport.nodes import CLIENT_NAME, PD_NAME, store_name, tidb_name, zones_of
from sim.units import NS_PER_S


@dataclass(frozen=True, slots=True)
class Response:
    """What a load does to times, in ns."""

    requests: Mapping[RequestKind, float]
    """Of each kind that there is, from being sent until the answer is back."""
    services: Mapping[RequestKind, float]
    """Of that, from arrival at a store to the reply."""
    transaction: float
    held: float
    """How long a lock is held."""
    retries: float
    """Lock requests that are sent again, per transaction."""

    @property
    def lock(self) -> float:
        """Of a lock request; 0 without any."""
        return self.requests.get("lock", 0.0)

    def or_at(self, other: "Response", share: float) -> "Response":
        """Returns the mean of both, if this share of the requests goes to another store."""

        def mean(here: float, there: float) -> float:
            return (1 - share) * here + share * there

        return Response(
            {kind: mean(ns, other.requests[kind]) for kind, ns in self.requests.items()},
            {kind: mean(ns, other.services[kind]) for kind, ns in self.services.items()},
            mean(self.transaction, other.transaction),
            mean(self.held, other.held),
            mean(self.retries, other.retries),
        )


class ResponseTimes:
    """The response time law of one scenario with one lock mode."""

    def __init__(self, scenario: Scenario, footprint: Footprint, *, in_memory: bool) -> None:
        """Args: ``in_memory`` says whether locks that are not refused stay in memory."""
        self._scenario = scenario
        self._footprint = footprint
        self._in_memory = in_memory
        self._client = client_machine(scenario, footprint)
        self._tidb = tidb_nodes(scenario, footprint)
        self._sent = sent = tidb_traffic(scenario, footprint)
        self._sending = {
            kind: Delay(sent.sending_ns((each.request_bytes + each.reply_bytes) / each.count))
            for kind, each in footprint.requests.items()
        }
        stores = [store_name(n + 1) for n in range(scenario.cluster.stores)]
        tidbs = [tidb_name(n) for n in range(scenario.cluster.tidb_nodes)]
        self._to_client = self._round_trip(
            (f"{CLIENT_NAME}-{n}", tidb) for n, tidb in enumerate(tidbs)
        )
        self._to_store = self._round_trip((tidb, store) for tidb in tidbs for store in stores)
        self._to_pd = (
            self._round_trip((tidb, PD_NAME) for tidb in tidbs)
            + scenario.hardware.cpu.thread_hop_ns
        )
        """With the waking of who asked."""
        self._between_stores = self._round_trip((a, b) for a in stores for b in stores)
        clients = scenario.workload.threads
        self._others = 1.0 if clients is None else (clients - 1) / clients
        """Part of the jobs that one meets: in a closed loop nobody waits for himself (Schweitzer
        1979)."""

    def _round_trip(self, pairs: Iterable[tuple[str, str]]) -> float:
        """Returns the mean over pairs of nodes, by how they lie in zones."""
        zones, network = zones_of(self._scenario), self._scenario.hardware.network
        near_ns = mean_ns(network.same_zone)
        crossing = [zones[src] != zones[dst] for src, dst in pairs if src != dst]
        if network.cross_zone is None or not crossing:
            return near_ns
        share = sum(crossing) / len(crossing)
        return (1 - share) * near_ns + share * mean_ns(network.cross_zone)

    def at(self, store: StoreModel, load: StoreLoad, beside: StoreLoad | None = None) -> Response:
        """Returns all times at a store's load; ``beside`` is that of its followers, if another."""
        footprint, apply = self._footprint, load.stations["apply"]
        proposed = self._handled(load)
        applied = Delay.of(apply.hop_ns, load.applied_ns)
        finished = self._write_finished(load)
        durable = (
            proposed.then(self._replicated(store, load, beside or load))
            .then(applied)
            .then(finished)
        )
        in_pool = self._scenario.tikv.pool_answers_proposed
        answered = proposed.then(finished) if in_pool else proposed
        raft: dict[RequestKind, Delay] = {
            "lock": self._lock_way(store, answered, durable),
            "prewrite": durable,
            "commit": durable,
            "rollback": durable,
        }
        outside = self._outside(load)
        inside = {
            kind: self._inside(kind, store, load).then(raft.get(kind, Delay()))
            for kind in footprint.requests
        }
        requests = {
            kind: outside.then(self._sending[kind]).then(each) for kind, each in inside.items()
        }
        statement, planning = self._statement(load.txn_per_s)
        lock = requests["lock"].mean if "lock" in requests else 0.0
        held = self._held(requests, statement)
        own = self._own_lock_wait(answered, durable, outside.mean, statement)
        release = durable.mean - answered.mean
        conflicts = self._contention(load.txn_per_s, held + lock, lock, planning, release)
        alone = (
            footprint.statements * statement
            + footprint.timestamps * self._to_pd
            + footprint.pause_ns
        )
        means = {kind: each.mean for kind, each in requests.items()}
        services = {kind: each.mean for kind, each in inside.items()}
        latched: dict[RequestKind, float] = {
            "lock": conflicts.latched, "prewrite": own * footprint.own_locks.requests
        }  # fmt: skip
        for kind in latched.keys() & means.keys():
            means[kind] += latched[kind] / footprint.requests[kind].count
            services[kind] += latched[kind] / footprint.requests[kind].count
        transaction = alone + _waited_for(footprint.rounds, requests) + conflicts.waits + own
        return Response(means, services, transaction, held + own, conflicts.retries)

    def _handled(self, load: StoreLoad) -> Delay:
        """Returns the time until a poller has handled a message, with those before it."""
        ahead = (load.pollers.taken - 1) / 2 * load.message_ns
        return Delay.of(load.message_ns + load.woken * load.hop_ns, load.mail_wait_ns + ahead)

    def _replicated(self, store: StoreModel, load: StoreLoad, beside: StoreLoad) -> Delay:
        """Returns the time from a command's being proposed until its commit."""
        followers = self._scenario.cluster.replicas - 1
        if not followers:
            return self._logged(store, load)
        rest, back = self._rest_of_round(beside), self._handled(load)
        fixed_ns = self._between_stores + 2 * beside.hop_ns + load.append_sent_ns
        ports_ns = load.stations["store_network"].wait_ns + beside.stations["store_network"].wait_ns
        answer = Delay.of(fixed_ns, rest + ports_ns)
        answer = answer.then(self._handled(beside)).then(self._logged(store, beside))
        quorum = answer.until((followers + 1) // 2, followers)
        return answer._replace(fixed=quorum - answer.random).then(back)

    def _logged(self, store: StoreModel, load: StoreLoad) -> Delay:
        """Returns the time from a message's being handled until its entries are on the disk."""
        waits = max(0.0, load.pollers.log_wait - load.write_ns)
        varies = min(1.0, store.disk.append_scv**0.5) * load.write_ns
        return Delay.of(load.write_ns - varies, varies + self._rest_of_round(load) + waits)

    def _rest_of_round(self, load: StoreLoad) -> float:
        """Returns how long a message that was handled waits for those after it in its round."""
        return (load.pollers.batch - 1) / 2 * load.message_ns

    def _outside(self, load: StoreLoad) -> Delay:
        """Returns a request's time on TiDB, on the network, and on TiKV's gRPC threads."""
        cost_ns = self._scenario.hardware.tidb_cpu.tidb_request_ns
        met = load.txn_per_s * self._others
        sent_ns, waits_ns = self._tidb.times_ns(cost_ns, met)
        # Who finds a message open waits for half of the time that who opened it does.
        opening = self._tidb.opening(met)
        waits_ns += (1 + opening) / 2 * self._tidb.message_ns(met)
        waits_ns += self._sent.port(met).wait_ns + load.stations["store_network"].wait_ns
        return Delay.of(sent_ns + self._to_store + 2 * load.grpc_ns, waits_ns)

    def _inside(self, kind: RequestKind, store: StoreModel, load: StoreLoad) -> Delay:
        """Returns a request's time in the pool that serves it."""
        each = self._footprint.requests[kind]
        pool = load.stations[store.requests.pool_of(kind)]
        work_ns = store.requests.request_ns(kind) * load.slowness + pool.hop_ns
        return Delay.of(work_ns, pool.wait_ns + store.requests.rows_ns(each, load) / each.count)

    def _write_finished(self, load: StoreLoad) -> Delay:
        """Returns the time from a command's being applied until the scheduler has ended it."""
        pool = load.stations["scheduler"]
        work_ns = self._scenario.hardware.store_cpu.tikv_finish_ns * load.slowness
        return Delay.of(work_ns + pool.hop_ns, pool.wait_ns)

    def _lock_way(self, store: StoreModel, answered: Delay, durable: Delay) -> Delay:
        """Returns what the raftstore adds to a lock request."""
        tikv = self._scenario.tikv
        if not self._in_memory:
            return answered if tikv.pipelined else durable
        fallback = answered if tikv.in_memory_fallback == "pipelined" else durable
        return Delay.of(0.0, store.lock_share * fallback.mean)

    def _own_lock_wait(
        self, answered: Delay, durable: Delay, outside: float, statement: float
    ) -> float:
        """Returns how long a mean transaction's prewrites wait for its own last locks.

        A pipelined lock keeps its latches until it is applied. Meanwhile its answer goes to the
        client, and statements come back until the prewrite asks for the same latches.
        """
        own = self._footprint.own_locks
        if self._in_memory or not self._scenario.tikv.pipelined or not own.transactions:
            return 0.0
        last = round(own.requests)
        fixed, random = durable.fixed - answered.mean, durable.until(last, last) - durable.fixed
        gone = outside + own.statements * statement + own.pause_ns
        left = fixed + random - gone if gone < fixed else random * exp(-(gone - fixed) / random)
        return own.transactions * left

    def _statement(self, txn_per_s: float) -> tuple[float, float]:
        """Returns a statement's time with its round trip to the client, and its time on TiDB."""
        footprint, met = self._footprint, txn_per_s * self._others
        cost_ns = statement_ns(
            self._scenario, footprint, changing=footprint.changing_statements / footprint.statements
        )
        tidb = sum(self._tidb.times_ns(cost_ns, met))
        client = self._client.times_ns(self._scenario.hardware.cpu.client_statement_ns, met)
        woken = CLIENT_WAKES * self._client.wake_ns(met)
        return self._to_client + sum(client) + woken + tidb, tidb

    def _held(self, requests: Mapping[RequestKind, Delay], statement: float) -> float:
        """Returns how long a transaction holds a lock, from the answer until it is free again."""
        contention = self._footprint.contention
        if not contention.collision:
            return 0.0
        held = contention.statements_held * statement + contention.pause_held_ns
        held += _waited_for(contention.rounds_held, requests)
        if "commit" in requests:
            held += requests["commit"].mean
        held -= self._to_store / 2  # It is free before the answer is back.
        if self._scenario.cluster.tidb.guarantee_linearizability:
            held += self._to_pd
        return held

    def _contention(
        self, txn_per_s: float, cycle: float, lock: float, planning: float, release: float
    ) -> LockConflicts:
        """Returns what a transaction meets of others' locks.

        The hottest key is a server of its own, whose customers are the transactions that lock it;
        all other keys are met while they are held with a probability, and then half their time is
        over. Without fair locking a woken transaction has to plan and ask once more; it is woken
        when the release is proposed, so it does that while the release is written, and waits for
        the latches of that if it is back before.
        """
        contention = self._footprint.contention
        fair = self._scenario.cluster.tidb.fair_locking
        again = 0.0 if fair else self._to_store / 2 + planning + self._to_pd
        rate = txn_per_s / NS_PER_S
        to_there = self._to_store / 2  # Of the lock's way: who waits for it is there, or counts it.
        hot_cycle = cycle - to_there
        if not fair:
            hot_cycle += max(0.0, again + to_there - release)
        latched = max(0.0, release - again - to_there)
        used = min(0.999, rate * contention.hottest * hot_cycle)
        waits = contention.hottest * hot_cycle * used / (1 - used) / 2
        others = max(0.0, contention.collision - contention.hottest**2)
        met = min(1.0, rate * cycle * others)
        waits += met * (cycle / 2 + again + lock)
        retries = 0.0 if fair else met + used * contention.hottest
        return LockConflicts(waits, retries, retries * latched)


def _waited_for(
    rounds: Mapping[tuple[RequestKind, int], float], requests: Mapping[RequestKind, Delay]
) -> float:
    """Returns how long a client waits for so many rounds of so many requests of a kind."""
    return sum(
        often * requests[kind].until(width, width) for (kind, width), often in rounds.items()
    )
