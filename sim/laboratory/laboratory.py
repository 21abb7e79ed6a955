"""The laboratory: one cluster, driven step by step by a script.

Simulated time passes only while a command waits for its answer, or when the script says so. A
request travels as a client's does, to one store and without any retry; what comes back, region
errors included, is the output.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from sim.checks.checkers import Checkers
from sim.client.client_stats import ClientStats
from sim.client.session import Session
from sim.client.tidb import TidbNode
from sim.engine import LeanEnv
from sim.laboratory.grammar import ScriptProblem
from sim.laboratory.jobs import Answer, Job
from sim.laboratory.setup import ClusterSetup, region_map, scenario_of
from sim.laboratory.stores import advance_tso, make_cluster
from sim.laboratory.values import show_duration, timestamp
from sim.laboratory.words import Words, suggestion
from sim.observers.lock_fates import LockFates
from sim.protocol.records import Lock
from sim.protocol.region import Route
from sim.raftstore.peer import Peer
from sim.record.facts import MemorySink
from sim.record.recorder import Recorder
from sim.server.cluster import Cluster
from sim.server.control import Control
from sim.storage.probe import Probe
from sim.storage.request import KvRequest
from sim.streams import Streams
from sim.transport.filters import MessageFilter
from sim.units import NS_PER_MS, NS_PER_S

PATIENCE_NS: Final = 10 * NS_PER_S
"""How long a command waits for its answer, in simulated time."""

REPEAT_NS: Final = 100 * NS_PER_MS
"""Between two times that PD gives an order, while a command waits for what it ordered."""


class Command(NamedTuple):
    """One command: how it is written, and what carries it out and returns what it prints."""

    usage: str
    run: Callable[[Laboratory, Words], str | None]


@dataclass
class Txn:
    """A transaction as the script's author knows it."""

    name: str
    start_ts: int
    for_update_ts: int
    primary: bytes = b""
    keys: dict[bytes, None] = field(default_factory=dict)
    """Keys that it has asked to lock or to write, in order."""
    min_commit_ts: int = 0
    """Largest ``min_commit_ts`` that a prewrite has answered with."""
    commit_ts: int = 0


class Watcher(Probe):
    """Counts the branches taken, and keeps the locks that tables have dropped."""

    def __init__(self) -> None:
        self.marks: dict[str, int] = {}
        self.dropped: list[tuple[Peer, tuple[bytes, Lock, bool], str]] = []
        """Replica, (key, lock, whether it was marked deleted), and why its table was dropped."""

    def mark(self, name: str) -> None:
        """Counts a branch."""
        self.marks[name] = self.marks.get(name, 0) + 1

    def table_dropped(
        self, peer: Peer, locks: Sequence[tuple[bytes, Lock, bool]], cause: str
    ) -> None:
        """Notes locks that a table has lost."""
        self.dropped += [(peer, each, cause) for each in locks]


class Model:
    """The cluster under a script, and those who ask and watch it."""

    def __init__(self, setup: ClusterSetup) -> None:
        """Raises: ScriptProblem, if the cluster's regions do not fit together."""
        scenario, regions = scenario_of(setup), region_map(setup)
        env, streams = LeanEnv(), Streams(1, 0)
        self.env = env
        self.recorder = Recorder(scenario.run.window_ns, MemorySink())
        self.watcher = Watcher()
        self.cluster = make_cluster(env, scenario, regions, streams, self.recorder)
        probe = self.cluster.probe
        probe.add(self.watcher)
        fates = LockFates(env, Recorder(scenario.run.window_ns, MemorySink()))
        self.checkers = Checkers(self.cluster, fates, seed=1)
        self.checkers.watch(probe)
        probe.add(fates)
        stats = ClientStats(self.recorder)
        self.node = TidbNode(env, 0, scenario, self.cluster, streams, stats)
        self.session = Session(self.node)


class Laboratory:
    """A cluster under a script, and what the script has named."""

    def __init__(self) -> None:
        self.begin_with(ClusterSetup())

    def begin_with(self, setup: ClusterSetup) -> None:
        """Forgets everything and begins with another cluster, built when it is first needed."""
        self.setup = setup
        self.txns: dict[str, Txn] = {}
        self.jobs: dict[str, Job] = {}
        self.contexts: dict[str, Route] = {}
        self.rules: dict[str, MessageFilter] = {}
        """Message rules, by the name the script gave them."""
        self.clients = 0
        """How many whole transactions were begun."""
        self._model: Model | None = None

    @property
    def is_built(self) -> bool:
        """Whether the cluster exists; until then ``region`` lines may add to it."""
        return self._model is not None

    @property
    def model(self) -> Model:
        """The cluster with all around it; built when it is first needed."""
        if self._model is None:
            self._model = Model(self.setup)
        return self._model

    @property
    def cluster(self) -> Cluster:
        """The cluster."""
        return self.model.cluster

    @property
    def control(self) -> Control:
        """What can be done to the cluster from outside."""
        return Control(self.cluster)

    @property
    def env(self) -> LeanEnv:
        """The clock."""
        return self.model.env

    def txn(self, name: str) -> Txn:
        """Returns a transaction; a bare timestamp is one that begins there.

        Raises:
            ScriptProblem: if there is none.
        """
        known = self.txns.get(name)
        if known is not None:
            return known
        try:
            start_ts = timestamp(name)
        except ScriptProblem:
            hint = suggestion(name, list(self.txns), f"begin {name}")
            raise ScriptProblem(f"no transaction {name}; {hint}") from None
        return self.begin(name, start_ts)

    def reader(self, at: str) -> Txn:
        """Returns a transaction that reads at a timestamp, or at another's ``start_ts``."""
        if at in self.txns:
            return self.txns[at]
        ts = self.time(at)
        return Txn(at, ts, ts)

    def begin(self, name: str, start_ts: int) -> Txn:
        """Begins a transaction; a name may be used again."""
        txn = self.txns[name] = Txn(name, start_ts, start_ts)
        advance_tso(self.cluster, start_ts)
        return txn

    def next_ts(self) -> int:
        """Returns a timestamp from PD, at once."""
        return self.cluster.tso.next(self.env.now_ns)

    def time(self, text: str) -> int:
        """Returns a timestamp as a script says it; ``now`` is a new one."""
        if text == "now":
            return self.next_ts()
        value = timestamp(text)
        advance_tso(self.cluster, value)
        return value

    def time_option(self, words: Words, name: str, default: int) -> int:
        """Returns the timestamp that an option says."""
        text = words.text(name, "")
        return self.time(text) if text else default

    def run_for(self, duration_ns: int) -> None:
        """Lets time pass."""
        self.env.run_until(self.env.now_ns + duration_ns)

    def run_until(self, happened: Callable[[], bool], patience_ns: int) -> bool:
        """Lets time pass until something has happened; returns whether it has, in time."""
        env = self.env
        end_ns = env.now_ns + patience_ns
        while not happened():
            if env.peek() > end_ns:
                env.run_until(end_ns)
                return happened()
            env.step()
        return True

    def ask(self, request: KvRequest, describe: Callable[[KvRequest], str], words: Words) -> str:
        """Sends a request; returns its answer, or nothing if it is put aside under a name."""
        answer = Answer(request)
        self.model.node.send(request)
        return self.finish(Job(lambda: answer.has_come, lambda: describe(request)), words.as_name)

    def finish_within(self, job: Job, words: Words, default: str) -> str:
        """Waits for a job as long as ``within=`` says; put aside, it has that long from now."""
        asked = words.has("within")
        patience_ns = words.duration_ns("within", default)
        if asked and words.as_name:
            job.within_ns, job.until_ns = patience_ns, self.env.now_ns + patience_ns
        return self.finish(job, words.as_name, patience_ns)

    def finish(self, job: Job, name: str, patience_ns: int = PATIENCE_NS) -> str:
        """Puts a job aside under its name, or waits for it; returns what is printed."""
        if not name:
            return self.wait(job, patience_ns)
        if name in self.jobs and not self.is_over(self.jobs[name]):
            raise ScriptProblem(f"{name} is still under way; wait {name} first")
        self.jobs[name] = job
        return ""

    def is_over(self, job: Job) -> bool:
        """Returns whether a job has ended, or has taken longer than it was given."""
        return job.done() or 0 < job.until_ns <= self.env.now_ns

    def wait(self, job: Job, patience_ns: int) -> str:
        """Waits for a job, as long as it was given if that was said; returns its answer."""
        end_ns = self.env.now_ns + patience_ns
        if job.until_ns:
            end_ns, patience_ns = job.until_ns, job.within_ns
        while not self.run_until(job.done, max(0, min(end_ns - self.env.now_ns, REPEAT_NS))):
            if self.env.now_ns >= end_ns:
                return f"no answer within {show_duration(patience_ns)}{job.so_far()}"
            job.repeat()
        return job.text()

    def job(self, name: str) -> Job:
        """Returns what was put aside under ``name``.

        Raises:
            ScriptProblem: if nothing was.
        """
        if name not in self.jobs:
            hint = suggestion(name, list(self.jobs), f"… as {name}")
            raise ScriptProblem(f"nothing is called {name}; {hint}")
        return self.jobs[name]
