"""Carries out a scenario's operations on an etcd cluster: those that etcd has as well."""

from collections.abc import Callable, Generator
from functools import partial
from typing import Any, NamedTuple

from simpy import Event

from sim.etcd.cluster import EtcdCluster
from sim.operations.times import times_of
from sim.record.recorder import Recorder
from sim.scenario.resolved import Scenario
from sim.scenario.schema.operations import (
    CrashStore,
    Partition,
    RestartStore,
    SlowDisk,
    Timed,
    TransferLeader,
)
from sim.scenario.targets import StoreTarget
from sim.streams import Stream, Streams


class _Plan(NamedTuple):
    """What is done to one member, and undone after a time if there is an end."""

    target: StoreTarget
    among: list[int]
    begin: Callable[[int], None]
    end: Callable[[int], None] | None = None


def start_operations(
    scenario: Scenario, cluster: EtcdCluster, streams: Streams, recorder: Recorder
) -> None:
    """Starts a process for every operation of a scenario."""
    for operation in scenario.operations:
        assert isinstance(operation, Timed), f"etcd has no {operation.do}"
        stream = streams.stream(f"operations/{operation.name}")
        cluster.env.process(_run(cluster, recorder, stream, operation))


def _run(
    cluster: EtcdCluster, recorder: Recorder, stream: Stream, operation: Timed
) -> Generator[Event, Any, None]:
    """Carries an operation out at each of its moments."""
    env = cluster.env
    for time_ns in times_of(operation, stream):
        yield env.timeout(time_ns - env.now_ns)
        if isinstance(operation, Partition) and operation.groups is not None:
            groups = " | ".join(" ".join(each) for each in operation.groups)
            _record(cluster, recorder, operation.do, groups)
            cluster.partition(operation.groups)
            _end_later(cluster, recorder, operation, "", cluster.heal)
            continue
        plan = _plan(cluster, operation)
        member = _chosen(cluster, stream, plan.target, plan.among)
        if member in plan.among:
            _record(cluster, recorder, operation.do, f"store {member}")
            plan.begin(member)
            if plan.end is not None:
                end = partial(plan.end, member)
                _end_later(cluster, recorder, operation, f"store {member}", end)


def _plan(cluster: EtcdCluster, operation: Timed) -> _Plan:
    up = [member.store for member in cluster.up()]
    match operation:
        case TransferLeader():
            followers = [each for each in up if each != cluster.leader_store()]
            return _Plan(operation.to, followers, cluster.transfer_leader)
        case CrashStore():
            return _Plan(operation.store, up, cluster.crash, cluster.restart)
        case RestartStore():
            down = [each for each in cluster.members if each not in up]
            return _Plan(operation.store, down, cluster.restart)
        case SlowDisk():
            slow = partial(cluster.slow_disk, factor=operation.factor)
            usual = partial(cluster.slow_disk, factor=1.0)
            return _Plan(operation.store, list(cluster.members), slow, usual)
        case Partition(isolate=StoreTarget() as target):
            return _Plan(target, up, cluster.isolate, lambda _: cluster.heal())
        case _:
            raise AssertionError(f"etcd has no {operation.do}")


def _chosen(cluster: EtcdCluster, stream: Stream, target: StoreTarget, among: list[int]) -> int:
    """Returns the member that is meant, 0 if there is none."""
    match target.by:
        case "id":
            return target.store
        case "leader_of":
            return cluster.leader_store()
        case _:
            return among[stream.randint(0, len(among) - 1)] if among else 0


def _end_later(
    cluster: EtcdCluster, recorder: Recorder, operation: Timed, what: str, end: Callable[[], None]
) -> None:
    for_ns: int | None = getattr(operation, "for_ns", None)

    def ended(_: None) -> None:
        recorder.event(cluster.env.now_ns, f"{operation.do}_end", what)
        end()

    if for_ns is not None:
        cluster.env.at(cluster.env.now_ns + for_ns, ended, None)


def _record(cluster: EtcdCluster, recorder: Recorder, kind: str, detail: str) -> None:
    """Counts an operation, and writes an event that says what it is about."""
    recorder.counter("operations", kind).value += 1
    recorder.event(cluster.env.now_ns, kind, detail)
