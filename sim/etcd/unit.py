"""One replication of an etcd scenario: a cluster, its clients, and what is counted of them."""

from collections.abc import Callable, Generator
from typing import Any

from simpy import Event

from sim.checks.conservation import broken_conservation
from sim.checks.raft_safety import RaftSafety
from sim.checks.report import Report
from sim.engine.environment import LeanEnv
from sim.etcd.checks import CHECKS, broken_puts, broken_replicas
from sim.etcd.cluster import CLIENT, EtcdCluster
from sim.etcd.member import Member
from sim.etcd.operations import start_operations
from sim.etcd.put_client import PutClients, PutStats
from sim.observers.station_meter import StationMeter
from sim.observers.unfinished import record_transactions
from sim.record.facts import FactSink
from sim.record.recorder import Recorder
from sim.scenario.resolved import Scenario
from sim.streams import Streams
from sim.unit_result import UnitResult, run_to_end


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
        self._meter = _meter_of(self.recorder, self.cluster)
        start_operations(scenario, self.cluster, streams, self.recorder)
        self.env.process(self._close_windows())

    def run(self) -> None:
        """Runs to the end and closes the facts."""
        run_to_end(
            self.scenario, self.env, self.recorder, self._meter.read, self._record_unfinished
        )

    def result(self) -> UnitResult:
        """Returns the bill of what has been run so far."""
        checks = self.scenario.run.checks
        violations = []
        if checks:
            cluster = self.cluster
            disks = [member.disk for member in cluster.members.values()]
            conserved = broken_conservation(disks, cluster.ledger, self.stats, self.env.now_ns)
            violations = [
                *filter(None, conserved),
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

    def _record_unfinished(self) -> None:
        record_transactions(self.recorder, self.stats.population, self.env.now_ns)

    def _close_windows(self) -> Generator[Event, Any, None]:
        while True:
            yield self.env.timeout(self.recorder.window_ns)
            self._meter.read(self.env.now_ns)
            self.recorder.roll(self.env.now_ns)


def _meter_of(recorder: Recorder, cluster: EtcdCluster) -> StationMeter:
    members, machines = list(cluster.members.values()), cluster.machines
    meter = StationMeter(recorder)

    def sent(*, by_clients: bool) -> int:
        links = cluster.network.links().items()
        return sum(link.bytes for ends, link in links if (CLIENT in ends) is by_clients)

    def busy(name: str, busy_until: Callable[[Member, int], int]) -> None:
        meter.add_station(
            name, len(members), lambda now_ns: sum(busy_until(each, now_ns) for each in members)
        )

    meter.add_station("store_cpu", machines.core_count(), lambda _: machines.busy_ns())
    busy("store_poller", lambda member, _: member.busy_ns)
    busy("raft_log", lambda member, now_ns: member.log.writing_until(now_ns))
    meter.add_disks("raft_disk", [member.disk for member in members])
    meter.add_total("fsyncs", "raft", lambda: sum(each.log.fsyncs for each in members))
    meter.add_total("raft_entries", "all", lambda: sum(each.log.entries for each in members))
    meter.add_total("store_messages", "all", lambda: sum(each.messages for each in members))
    meter.add_total("network_bytes", "raft", lambda: sent(by_clients=False))
    meter.add_total("network_bytes", "kv", lambda: sent(by_clients=True))
    meter.add_total("engine_events", "all", lambda: cluster.env.events)
    return meter
