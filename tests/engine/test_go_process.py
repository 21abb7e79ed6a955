"""A Go program: its system calls, its monitor, its queues, and who marks its heap."""

from __future__ import annotations

import pytest

from sim.engine import LeanEnv
from sim.etcd.go_heap import MARK_NS_PER_BYTE, Heap
from sim.etcd.go_process import GoProcess, GoThread
from sim.etcd.shared_cores import Program, SharedCores
from sim.units import MIB, NS_PER_MS, NS_PER_S, NS_PER_US

LONG_NS = 1000 * NS_PER_S
MARKING_NS = int(10 * MIB * MARK_NS_PER_BYTE)


def _program(env: LeanEnv, cores: SharedCores, procs: int) -> GoProcess:
    return GoProcess(env, cores, procs, watch_ns=1, heap=Heap(10 * MIB))


def _order_with_a_call(call_ns: int) -> list[str]:
    """One proc: a job that waits in a call, then goes on, and another that came meanwhile."""
    env = LeanEnv()
    program = _program(env, SharedCores(env, 2, LONG_NS), 1)
    order: list[str] = []

    def calls(_: object) -> None:
        thread = program.enter_call()
        program.submit(NS_PER_US, order.append, "other")
        env.at(env.now_ns + call_ns, returns, thread)

    def returns(thread: GoThread | None) -> None:
        program.leave_call(thread, NS_PER_US, order.append, "after the call")

    program.submit(NS_PER_US, calls, None)
    env.run_until(10 * NS_PER_MS)
    return order


def test_a_short_call_keeps_its_proc() -> None:
    assert _order_with_a_call(30 * NS_PER_US) == ["after the call", "other"]


def test_the_monitor_takes_the_proc_of_a_long_call() -> None:
    assert _order_with_a_call(NS_PER_MS) == ["other", "after the call"]


def test_the_monitor_sleeps_when_nothing_goes_on() -> None:
    env = LeanEnv()
    program = _program(env, SharedCores(env, 2, LONG_NS), 1)
    program.submit(NS_PER_US, lambda _: None, None)
    env.run_until(NS_PER_MS)
    looks = program.monitor.looks
    env.run_until(NS_PER_S)
    assert 1 <= looks <= 2
    assert program.monitor.looks == looks


def test_naps_get_longer_while_there_is_nothing_to_do() -> None:
    env = LeanEnv()
    program = _program(env, SharedCores(env, 2, LONG_NS), 1)
    program.submit(NS_PER_S, lambda _: None, None)
    env.run_until(50 * 71 * NS_PER_US)
    assert 48 <= program.monitor.looks <= 51
    before = program.monitor.looks
    env.run_until(NS_PER_S)
    assert program.monitor.looks - before < 120


def test_what_a_job_brings_about_last_comes_next_and_an_idle_proc_takes_the_rest() -> None:
    env = LeanEnv()
    program = _program(env, SharedCores(env, 2, LONG_NS), 2)
    ended: dict[str, int] = {}

    def brings_two(_: object) -> None:
        for name in "ab":
            program.submit(100, lambda name: ended.__setitem__(name, env.now_ns), name)

    program.submit(10, brings_two, None)
    env.run_until(NS_PER_MS)
    assert ended == {"b": 111, "a": 112}  # A thread looks for work for 1 ns.


def test_what_comes_from_outside_waits_until_a_proc_has_no_work_of_its_own() -> None:
    env = LeanEnv()
    program = _program(env, SharedCores(env, 1, LONG_NS), 1)
    order: list[str] = []

    def brings_one(_: object) -> None:
        order.append("first")
        program.submit(10, order.append, "brought about")

    program.submit(10, brings_one, None)
    program.submit(10, order.append, "from outside")
    env.run_until(NS_PER_MS)
    assert order == ["first", "brought about", "from outside"]


def test_an_idle_program_marks_its_heap_at_once() -> None:
    env = LeanEnv()
    program = _program(env, SharedCores(env, 1, LONG_NS), 1)
    program.allocate(10 * MIB - 1)
    assert program.heap.left_ns == 0
    program.allocate(1)
    env.run_until(MARKING_NS + 10 * NS_PER_US)
    assert (program.heap.marked_ns, program.heap.left_ns) == (MARKING_NS, 0)


def test_a_busy_program_marks_in_a_quarter_of_its_time() -> None:
    env = LeanEnv()
    program = _program(env, SharedCores(env, 1, LONG_NS), 1)

    def again(_: object) -> None:
        program.submit(20 * NS_PER_US, again, None)

    again(None)
    program.allocate(10 * MIB)
    env.run_until(3 * MARKING_NS)
    assert program.heap.marked_ns == pytest.approx(0.27 * 3 * MARKING_NS, rel=0.1)
    env.run_until(5 * MARKING_NS)
    assert program.heap.left_ns == 0


def test_marking_keeps_other_programs_from_the_core() -> None:
    env = LeanEnv()
    cores = SharedCores(env, 1, slice_ns=NS_PER_MS)
    program = _program(env, cores, 1)
    program.allocate(10 * MIB)
    other = Program(cores, 1)
    ended: list[int] = []
    other.submit(2 * NS_PER_MS, lambda _: ended.append(env.now_ns), None)
    env.run_until(10 * NS_PER_MS)
    assert ended[0] == pytest.approx(4 * NS_PER_MS, rel=0.1)
