"""The composition root: builds one unit from a scenario, runs it, and says what it cost.

A unit is one scenario (a variant at a point) and one replication. Its facts go to a sink while it
runs; what comes back is only the bill and what the checkers have found.
"""

from collections.abc import Generator
from typing import Any

from sim.checks.checkers import LAWS, Checkers
from sim.checks.conservation import broken_conservation
from sim.client.arrivals import closed_loop, open_loop
from sim.client.client_stats import ClientStats
from sim.client.session import Session
from sim.client.tidb import TidbNode
from sim.engine import LeanEnv, Wait
from sim.etcd.unit import EtcdUnit
from sim.observers.lock_fates import LockFates
from sim.observers.own_latches import OwnLatches
from sim.observers.region_counts import LeaderCounts, RegionCounts
from sim.observers.station_meter import meter_of
from sim.observers.transfer_times import TransferTimes
from sim.observers.unfinished import record_requests, record_transactions
from sim.operations import start_operations
from sim.record.facts import FactSink
from sim.record.recorder import Recorder
from sim.scenario.resolved import Scenario
from sim.scenario.schema.arrival import ETCD
from sim.server.cluster import Cluster
from sim.server.control import Control
from sim.storage.block_cache import misses_by_table
from sim.streams import Streams
from sim.unit_result import UnitResult, run_to_end, simulated_ns
from sim.workload import build_workload
from sim.workload.layout import lay_out
from sim.workload.statement import TransactionSource

__all__ = ["SimulatedUnit", "UnitResult", "run_unit", "simulated_ns"]


def run_unit(scenario: Scenario, replication: int, sink: FactSink) -> UnitResult:
    """Runs one replication of one scenario and hands its facts to ``sink``.

    The same scenario, seed and replication give the same facts, on any machine.
    """
    kind = EtcdUnit if scenario.workload.kind == ETCD else SimulatedUnit
    unit = kind(scenario, replication, sink)
    unit.run()
    return unit.result()


class SimulatedUnit:
    """One simulated cluster with its clients. ``run`` goes to the end; tests may go in steps."""

    def __init__(self, scenario: Scenario, replication: int, sink: FactSink) -> None:
        self.scenario = scenario
        self.env = LeanEnv()
        self.streams = Streams(scenario.run.seed, replication)
        self.recorder = Recorder(scenario.run.window_ns, sink)
        self.stats = ClientStats(self.recorder)
        self.workload = self._make_workload()
        tables = self.workload.tables()
        regions, misses = lay_out(scenario, tables), misses_by_table(scenario, tables)
        self.cluster = Cluster(self.env, scenario, regions, self.streams, self.recorder, misses)
        self.fates = LockFates(self.env, self.recorder)
        self.checkers: Checkers | None = None
        if scenario.run.checks:
            self.checkers = Checkers(self.cluster, self.fates, scenario.run.seed)
            self.checkers.watch(self.cluster.probe)
        self.cluster.probe.add(self.fates)
        self.cluster.probe.add(RegionCounts(self.cluster.pd.routes, self.recorder))
        self.cluster.probe.add(LeaderCounts(self.cluster.pd.routes, self.recorder))
        self.cluster.probe.add(OwnLatches(self.env, self.recorder))
        self.transfer_times = TransferTimes(self.env, self.recorder)
        self.cluster.probe.add(self.transfer_times)
        self.nodes = [
            TidbNode(self.env, node, scenario, self.cluster, self.streams, self.stats)
            for node in range(scenario.cluster.tidb_nodes)
        ]
        self.meter = meter_of(self.recorder, scenario, self.cluster, self.nodes)
        self._start_clients()
        if scenario.operations:
            control = Control(self.cluster)
            start_operations(scenario, self.cluster, control, tables, self.streams, self.recorder)
        self.env.process(self._close_windows())

    def run(self) -> None:
        """Runs to the end and closes the facts."""
        run_to_end(self.scenario, self.env, self.recorder, self.meter.read, self._record_unfinished)

    def result(self) -> UnitResult:
        """Returns the bill of what has been run so far."""
        checked, violations = 0, []
        if self.checkers is not None:
            cluster, now_ns = self.cluster, self.env.now_ns
            conserved = broken_conservation(cluster.disks(), cluster.ledger, self.stats, now_ns)
            checked = len(conserved) + LAWS
            violations = [line for line in conserved if line] + self.checkers.broken()
        return UnitResult(
            events=self.env.events,
            transactions=self.stats.total_committed(),
            simulated_ns=self.env.now_ns,
            checked=checked,
            violations=tuple(violations),
        )

    def _record_unfinished(self) -> None:
        record_transactions(self.recorder, self.stats.population, self.env.now_ns)
        record_requests(self.recorder, self.nodes, self.cluster)

    def _make_workload(self) -> TransactionSource:
        return build_workload(self.scenario.workload, self.streams)

    def _start_clients(self) -> None:
        sessions = [self._session(node) for node in self.nodes]
        for session in sessions:
            self.env.process(session.ttl_manager.run())
        self._begin_load(sessions)

    def _session(self, node: TidbNode) -> Session:
        """Returns a node's sessions; a traced unit has others."""
        return Session(node)

    def _begin_load(self, sessions: list[Session]) -> None:
        scenario, env = self.scenario, self.env
        load = scenario.workload
        if load.threads is None:
            assert load.rate_per_s is not None, "a workload has threads or a rate"
            env.process(open_loop(env, sessions, self.workload, load.rate_per_s, self.streams))
            return
        for client in range(load.threads):
            session = sessions[client % len(sessions)]
            env.process(
                closed_loop(env, session, self.workload, client, self.streams, load.think_time)
            )

    def _close_windows(self) -> Generator[Wait, Any, None]:
        window_ns = self.recorder.window_ns
        while True:
            yield window_ns
            self.meter.read(self.env.now_ns)
            self.transfer_times.look()
            self.recorder.roll(self.env.now_ns)
