"""Goroutines: what they wait for, and what is gathered meanwhile."""

from __future__ import annotations

from sim.engine import LeanEnv
from sim.etcd.go_heap import Heap
from sim.etcd.go_process import GoProcess
from sim.etcd.goroutine import RECEIVE, Body, Goroutines, Mutex, Sleep, SystemCall, gather
from sim.etcd.shared_cores import SharedCores
from sim.units import MIB, NS_PER_MS, NS_PER_S

LOOK_NS = 1
"""A thread that has just been given a proc looks for work first."""


class Stage:
    """One program with a proc, and a log of what its goroutines do."""

    def __init__(self, procs: int = 1) -> None:
        self.env = LeanEnv()
        cores = SharedCores(self.env, procs + 1, 1000 * NS_PER_S)
        process = GoProcess(self.env, cores, procs, watch_ns=1, heap=Heap(10 * MIB))
        self.program = Goroutines(self.env, process)
        self.log: list[tuple[int, object]] = []

    def note(self, what: object) -> None:
        self.log.append((self.env.now_ns, what))

    def run(self) -> list[tuple[int, object]]:
        self.env.run_until(self.env.now_ns + NS_PER_MS)
        return self.log


def test_a_gatherer_takes_all_that_came_meanwhile() -> None:
    stage = Stage()
    gatherer = stage.program.go(gather(lambda items: 100 * len(items), stage.note))
    for item in "abc":
        gatherer.deliver(item)
    assert stage.run() == [(100 + LOOK_NS, ["a"]), (300 + LOOK_NS, ["b", "c"])]
    assert gatherer.turns == 2


def test_a_system_call_waits_for_the_device_and_then_for_cpu() -> None:
    stage = Stage()

    def body() -> Body:
        yield 100
        yield SystemCall(
            lambda then: stage.env.at(stage.env.now_ns + 5_000, then, None), lambda: 30
        )
        stage.note("returned")
        yield RECEIVE

    stage.program.go(body())
    assert stage.run() == [(LOOK_NS + 100 + 5_000 + 30 + LOOK_NS, "returned")]


def test_a_lock_is_handed_to_whoever_has_waited_longest() -> None:
    stage = Stage(procs=3)
    lock = Mutex()

    def body(name: str, work_ns: int) -> Body:
        yield lock
        yield work_ns
        stage.note(name)
        lock.unlock()
        yield RECEIVE

    for name in "abc":
        stage.program.go(body(name, 1_000))
    assert [what for _, what in stage.run()] == ["a", "b", "c"]


def test_a_killed_program_does_nothing_more() -> None:
    stage = Stage()

    def body() -> Body:
        while True:
            yield Sleep(1_000)
            stage.note("awake")

    stage.program.go(body())
    stage.env.run_until(2_500)
    stage.program.kill()
    assert stage.run() == [(1_000, "awake"), (2_000, "awake")]
