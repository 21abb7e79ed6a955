"""The laboratory: one cluster, driven step by step by a script.

Law: simulated time passes only while a command waits for its answer, or when the script says so. A
request travels as a client's does, to one store and without any retry; what comes back, region
errors included, is the output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sim.client.client_stats import ClientStats
from sim.client.session import Session
from sim.client.tidb import TidbNode
from sim.engine import LeanEnv
from sim.laboratory.jobs import Job, RequestJob
from sim.laboratory.key_check import check_keys
from sim.laboratory.problems import ScriptProblem
from sim.laboratory.setup import ClusterWords, region_map, scenario_of
from sim.laboratory.values import show_duration, timestamp
from sim.laboratory.watcher import Watcher
from sim.laboratory.words import suggestion
from sim.record.facts import MemorySink
from sim.record.recorder import Recorder
from sim.server.cluster import Cluster
from sim.streams import Streams
from sim.units import NS_PER_MS, NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from sim.protocol.region import RegionMap, Route
    from sim.storage.request import KvRequest
    from sim.transport.message_filter import MessageFilter

PATIENCE_NS: Final = 10 * NS_PER_S
"""How long a command waits for its answer, in simulated time."""

REPEAT_NS: Final = 100 * NS_PER_MS
"""Between two times that PD gives an order, while a command waits for what it ordered."""


class Txn:
    """A transaction as the script's author knows it."""

    __slots__ = (
        "commit_ts",
        "for_update_ts",
        "keys",
        "min_commit_ts",
        "name",
        "primary",
        "start_ts",
    )

    def __init__(self, name: str, start_ts: int) -> None:
        self.name = name
        self.start_ts = start_ts
        self.for_update_ts = start_ts
        self.primary = b""
        self.keys: dict[bytes, None] = {}
        """Keys that it has asked to lock or to write, in order."""
        self.min_commit_ts = 0
        """Largest ``min_commit_ts`` that a prewrite has answered with."""
        self.commit_ts = 0


class Laboratory:
    """A cluster under a script, and what the script has named."""

    def __init__(self) -> None:
        self.said = ClusterWords()
        self.begun = False
        """Whether the cluster exists; until then ``region`` lines may add to it."""
        self.txns: dict[str, Txn] = {}
        self.jobs: dict[str, Job] = {}
        self.contexts: dict[str, Route] = {}
        self.rules: dict[str, MessageFilter] = {}
        """Message rules, by the name the script gave them."""
        self.watcher = Watcher()
        self.clients = 0
        """How many whole transactions were begun."""
        self._cluster: Cluster | None = None
        self._requests = 0

    @property
    def routes(self) -> RegionMap:
        """What PD knows of the regions."""
        return self.cluster.pd.routes

    @property
    def cluster(self) -> Cluster:
        """The cluster; it is built when it is first needed."""
        if self._cluster is None:
            self._build()
        assert self._cluster is not None, "just built"
        return self._cluster

    def restart(self, said: ClusterWords) -> None:
        """Forgets everything and begins with another cluster."""
        self.__init__()  # type: ignore[misc]
        self.said = said

    def _build(self) -> None:
        scenario = scenario_of(self.said)
        self.env = LeanEnv()
        self.streams = Streams(1, 0)
        self.recorder = Recorder(scenario.run.window_ns, MemorySink())
        regions = region_map(self.said)
        self._cluster = cluster = Cluster(self.env, scenario, regions, self.streams, self.recorder)
        self.scenario = scenario
        stats = ClientStats(self.recorder)
        self.node = TidbNode(self.env, 0, scenario, cluster, self.streams, stats)
        self.session = Session(self.node)
        cluster.tso.running[0] = 0  # Nothing is old enough to be collected.
        cluster.keep_rows = True
        cluster.probe.add(self.watcher)
        check_keys(cluster)
        cluster.awaken_all()
        self.begun = True

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
            mend = suggestion(name, list(self.txns), f"begin {name}")
            raise ScriptProblem(f"no transaction {name}; {mend}") from None
        return self.begin(name, start_ts)

    def reader(self, at: str) -> Txn:
        """Returns somebody who reads at a timestamp, or at a transaction's ``start_ts``."""
        return self.txns[at] if at in self.txns else Txn(at, self.time(at))

    def begin(self, name: str, start_ts: int) -> Txn:
        """Begins a transaction; a name may be used again."""
        txn = self.txns[name] = Txn(name, start_ts)
        self.saw(start_ts)
        return txn

    def next_ts(self) -> int:
        """Returns a timestamp from PD, at once."""
        return self.cluster.tso.next(self.env.now_ns)

    def saw(self, ts: int) -> None:
        """Sees to it that PD hands out nothing as old as ``ts``, which the script uses."""
        tso = self.cluster.tso
        tso._last = max(tso._last, ts)

    def time(self, text: str) -> int:
        """Returns a timestamp as a script says it; ``now`` is a new one."""
        if text == "now":
            return self.next_ts()
        value = timestamp(text)
        self.saw(value)
        return value

    def run_for(self, duration_ns: int) -> None:
        """Lets time pass."""
        env = self.cluster.env
        env.run_until(env.now_ns + duration_ns)

    def run_until(self, happened: Callable[[], bool], patience_ns: int = PATIENCE_NS) -> bool:
        """Lets time pass until something has happened; returns whether it has, in time."""
        env = self.cluster.env
        end_ns = env.now_ns + patience_ns
        while not happened():
            if env.peek() > end_ns:
                env.run_until(end_ns)
                return happened()
            env.step()
        return True

    def send(self, request: KvRequest, describe: Callable[[KvRequest], str]) -> RequestJob:
        """Sends a request; returns what stands for its answer."""
        job = RequestJob(request, describe)
        self.node.send(request)
        return job

    def finish(self, job: Job, name: str, patience_ns: int = PATIENCE_NS) -> str:
        """Puts a job aside under its name, or waits for it; returns what is printed."""
        if name:
            if name in self.jobs and not self.jobs[name].done():
                raise ScriptProblem(f"{name} is still under way; wait {name} first")
            self.jobs[name] = job
            return ""
        return self.wait(job, patience_ns)

    def wait(self, job: Job, patience_ns: int = PATIENCE_NS) -> str:
        """Waits for a job; returns its answer, or that there is none."""
        end_ns = self.cluster.env.now_ns + patience_ns
        while not self.run_until(job.done, min(end_ns - self.env.now_ns, REPEAT_NS)):
            if self.env.now_ns >= end_ns:
                break
            job.repeat()
        else:
            return job.text()
        return f"no answer within {show_duration(patience_ns)}{job.so_far()}"

    def job(self, name: str) -> Job:
        """Returns what was put aside under ``name``.

        Raises:
            ScriptProblem: if nothing was.
        """
        if name not in self.jobs:
            usage = "… as " + name
            raise ScriptProblem(f"nothing is called {name}; "
                                f"{suggestion(name, list(self.jobs), usage)}")  # fmt: skip
        return self.jobs[name]
