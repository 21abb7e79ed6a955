"""One replication of an etcd scenario: a cluster, its clients, and what is counted of them."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from simpy import Event

from sim.checks.raft_safety import RaftSafety
from sim.checks.report import Report
from sim.engine.environment import LeanEnv
from sim.etcd.checks import CHECKS, broken_conservation, broken_puts, broken_replicas
from sim.etcd.cluster import CLIENT, EtcdCluster
from sim.etcd.operations import start_operations
from sim.etcd.put_client import PutClients, PutStats
from sim.record.facts import FactSink
from sim.record.recorder import Counter, Recorder
from sim.scenario.resolved import Scenario
from sim.streams import Streams
from sim.unit_result import UnitResult, no_cycle_search, simulated_ns


class EtcdUnit:
    """One simulated etcd cluster with its clients. Tests may run it in steps."""

    def __init__(self, scenario: Scenario, replication: int, sink: FactSink) -> None:
        self.scenario = scenario
        self.env = LeanEnv()
        streams = Streams(scenario.run.seed, replication)
        self.recorder = Recorder(scenario.run.window_ns, sink)
        self.stats = PutStats(self.recorder)
        self._report = Report(self.env, scenario.run.seed)
        safety = RaftSafety(self._report) if scenario.run.checks else None
        self.cluster = EtcdCluster(self.env, scenario, streams, self.recorder, safety)
        self.clients = PutClients(self.env, scenario, self.cluster, streams, self.stats)
        self._meter = _Meter(self.recorder, self.cluster)
        start_operations(scenario, self.cluster, streams, self.recorder)
        self.env.process(self._close_windows())

    def run(self) -> None:
        """Runs to the end and closes the facts."""
        with no_cycle_search():
            self.env.run_until(simulated_ns(self.scenario))
            now_ns = self.env.now_ns
            if now_ns > self.recorder.window * self.recorder.window_ns:
                self._meter.read(now_ns)
            self.recorder.close(now_ns)

    def result(self) -> UnitResult:
        """Returns the bill of what has been run so far."""
        checks = self.scenario.run.checks
        violations = []
        if checks:
            violations = [
                *broken_conservation(self.cluster, self.stats),
                *broken_puts(self.cluster, self.clients.acknowledged),
                *broken_replicas(self.cluster),
                *self._report.lines(),
            ]
        return UnitResult(
            events=self.env.events,
            transactions=self.stats.done.value,
            simulated_ns=self.env.now_ns,
            checked=CHECKS if checks else 0,
            violations=tuple(violations),
        )

    def _close_windows(self) -> Generator[Event, Any, None]:
        while True:
            yield self.env.timeout(self.recorder.window_ns)
            self._meter.read(self.env.now_ns)
            self.recorder.roll(self.env.now_ns)


class _Meter:
    """Turns the totals that members and machines count into counters, once a window."""

    def __init__(self, recorder: Recorder, cluster: EtcdCluster) -> None:
        members = list(cluster.members.values())
        disks = list({id(member.disk): member.disk for member in members}.values())
        machines, links = cluster.machines, cluster.network.links()
        stations: dict[str, tuple[int, Callable[[], int]]] = {
            "store_cpu": (machines.core_count(), machines.busy_ns),
            "store_poller": (len(members), lambda: sum(each.busy_ns for each in members)),
            "raft_log": (len(members), lambda: sum(each.log.writing_ns for each in members)),
            "raft_disk": (len(disks), lambda: sum(disk.busy_ns for disk in disks)),
        }
        totals: dict[tuple[str, str], Callable[[], int]] = {
            ("fsyncs", "raft"): lambda: sum(each.log.fsyncs for each in members),
            ("raft_entries", "all"): lambda: sum(each.log.entries for each in members),
            ("store_messages", "all"): lambda: sum(each.messages for each in members),
            ("network_bytes", "raft"): lambda: sum(
                link.bytes for ends, link in links.items() if CLIENT not in ends
            ),
            ("network_bytes", "kv"): lambda: sum(
                link.bytes for ends, link in links.items() if CLIENT in ends
            ),
            ("engine_events", "all"): lambda: cluster.env.events,
        }
        totals |= {("busy_ns", name): busy_ns for name, (_, busy_ns) in stations.items()}
        self._capacities: list[tuple[Counter, int]] = [
            (recorder.counter("capacity_ns", name), servers)
            for name, (servers, _) in stations.items()
        ]
        self._totals = [(recorder.counter(*name), total) for name, total in totals.items()]

    def read(self, now_ns: int) -> None:
        """Brings every counter up to date."""
        for counter, total in self._totals:
            counter.value = total()
        for counter, servers in self._capacities:
            counter.value = servers * now_ns
