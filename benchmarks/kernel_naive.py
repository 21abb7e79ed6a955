"""Model M as a SimPy textbook would write it: a process a hop, ``Resource``, ``Store``, conditions.

This is the other side of the comparison and must stay idiomatic: nothing is slowed down, nothing is
clever.
"""

from collections.abc import Generator
from typing import Any

import simpy

from benchmarks import kernel_model as m
from sim.distributions import Sampler

Steps = Generator[simpy.Event, Any, None]


class Link:
    """One direction between two nodes: one message at a time, then the way."""

    def __init__(self, env: simpy.Environment, draws: m.Draws, name: str) -> None:
        self.env = env
        self.port = simpy.Resource(env)
        self.times = draws.times(name, m.TRANSMISSION_MEAN)

    def transfer(self) -> Steps:
        """Carries one message."""
        with self.port.request() as turn:
            yield turn
            yield self.env.timeout(self.times.draw())
        yield self.env.timeout(m.PROPAGATION)


class Pool:
    """Threads that serve requests one after the other."""

    def __init__(self, env: simpy.Environment, threads: int, times: Sampler) -> None:
        self.env = env
        self.threads = simpy.Resource(env, capacity=threads)
        self.times = times

    def work(self) -> Steps:
        """Serves one request."""
        with self.threads.request() as turn:
            yield turn
            yield self.env.timeout(self.times.draw())


class Log:
    """A log on disk: one sync at a time, for everything that waits."""

    def __init__(self, env: simpy.Environment, times: Sampler) -> None:
        self.env = env
        self.times = times
        self.pending = simpy.Store(env)
        env.process(self.write())

    def append(self) -> Steps:
        """Makes one entry durable."""
        durable = self.env.event()
        yield self.pending.put(durable)
        yield durable

    def write(self) -> Steps:
        """Syncs group after group, for ever."""
        while True:
            group = [(yield self.pending.get())]
            while self.pending.items:
                group.append((yield self.pending.get()))
            entries = len(group) * m.SYNC_PER_ENTRY
            yield self.env.timeout(m.SYNC_LEAST + self.times.draw() + entries)
            for durable in group:
                durable.succeed()


class Store:
    """A store: scheduler pool, log, apply thread."""

    def __init__(self, env: simpy.Environment, draws: m.Draws, number: int) -> None:
        name = f"store-{number}"
        self.name = name
        scheduler_times = draws.times(f"{name}/scheduler", m.SCHEDULER_MEAN)
        self.scheduler = Pool(env, m.SCHEDULER_THREADS, scheduler_times)
        self.log = Log(env, draws.times(f"{name}/log", m.SYNC_MEAN))
        self.apply = Pool(env, 1, draws.times(f"{name}/apply", m.APPLY_MEAN))


class Cluster:
    """The stores, the links, and the ways of requests through them."""

    def __init__(self, env: simpy.Environment, draws: m.Draws, mode: str) -> None:
        self.env = env
        self.mode = mode
        self.stores = [Store(env, draws, number) for number in range(m.STORES)]
        names = [store.name for store in self.stores] + [f"sql-{i}" for i in range(m.SQL_NODES)]
        self.links = {(a, b): Link(env, draws, f"{a}->{b}") for a in names for b in names if a != b}

    def transfer(self, src: str, dst: str) -> simpy.Process:
        """Sends one message."""
        return self.env.process(self.links[src, dst].transfer())

    def lock(self, sql: str, region: int) -> Steps:
        """Locks a key of a region, and returns when the SQL node has the answer."""
        store = self.stores[m.leader_of(region)]
        yield self.transfer(sql, store.name)
        yield self.env.process(store.scheduler.work())
        if self.mode == "pipelined":
            self.env.process(self.replicate(store))
        elif self.mode == "sync":
            yield self.env.process(self.replicate(store))
        yield self.transfer(store.name, sql)

    def write(self, sql: str, region: int) -> Steps:
        """Prewrites or commits in a region, and returns when the SQL node has the answer."""
        store = self.stores[m.leader_of(region)]
        yield self.transfer(sql, store.name)
        yield self.env.process(store.scheduler.work())
        yield self.env.process(self.replicate(store))
        yield self.transfer(store.name, sql)

    def replicate(self, leader: Store) -> Steps:
        """Proposes one entry, and returns when the leader has applied it."""
        copies = [self.env.process(leader.log.append())]
        copies += [
            self.env.process(self.copy(leader, follower))
            for follower in self.stores
            if follower is not leader
        ]
        yield simpy.events.Condition(self.env, lambda _, done: done >= m.QUORUM, copies)
        yield self.env.process(leader.apply.work())

    def copy(self, leader: Store, follower: Store) -> Steps:
        """Makes one entry durable on a follower, and returns when the leader knows."""
        yield self.transfer(leader.name, follower.name)
        yield self.env.process(follower.log.append())
        yield self.transfer(follower.name, leader.name)


def client(cluster: Cluster, draws: m.Draws, number: int, outcome: m.Outcome) -> Steps:
    """One client: thinks, runs a transaction, and begins again."""
    env = cluster.env
    sql = f"sql-{number % m.SQL_NODES}"
    choices = draws.choices(number)
    thinking = draws.times(f"client-{number}/think", m.THINK_MEAN)
    while True:
        yield env.timeout(thinking.draw())
        began = env.now
        regions = m.choose_regions(number, choices)
        for region in regions:
            asked = env.now
            yield env.process(cluster.lock(sql, region))
            outcome.lock_latencies[number].append(int(env.now - asked))
        touched = list(dict.fromkeys(regions))
        yield env.all_of([env.process(cluster.write(sql, region)) for region in touched])
        yield env.process(cluster.write(sql, touched[0]))
        outcome.txn_latencies[number].append(int(env.now - began))
        for region in touched[1:]:
            env.process(cluster.write(sql, region))


class CountingEnvironment(simpy.Environment):
    """Knows how many events it has scheduled, at no cost during the run."""

    @property
    def scheduled(self) -> int:
        """How many events were scheduled so far."""
        return next(self._eid)


def run(mode: str, seed: int, until: int) -> m.Outcome:
    """Plays the model from 0 to ``until`` ticks."""
    env = CountingEnvironment()
    draws = m.Draws(seed)
    outcome = m.Outcome()
    cluster = Cluster(env, draws, mode)
    for number in range(m.CLIENTS):
        env.process(client(cluster, draws, number, outcome))
    env.run(until)
    outcome.events = env.scheduled - len(env._queue)
    return outcome
