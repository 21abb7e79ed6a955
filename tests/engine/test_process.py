"""A process sleeps by a number, waits to be woken, and is SimPy's in everything else."""

import pytest
import simpy

from sim.engine import UNTIL_WOKEN, LeanEnv, Process, Story

Log = list[tuple[int, str]]


def test_a_number_is_a_sleep_of_so_many_nanoseconds() -> None:
    env, log = LeanEnv(), Log()

    def sleeper(name: str, naps: list[int]) -> Story:
        for nap in naps:
            yield nap
            log.append((env.now_ns, name))

    env.process(sleeper("a", [5, 5]))
    env.process(sleeper("b", [5, 1]))
    env.run_until(20)
    assert log == [(5, "a"), (5, "b"), (6, "b"), (10, "a")]


def test_a_sleep_is_one_entry_of_the_queue_and_no_event() -> None:
    def sleeper() -> Story:
        for _ in range(100):
            yield 1

    env = LeanEnv()
    env.process(sleeper())
    env.run_until(1_000)
    start_and_end = 2
    assert env.events == 100 + start_and_end


def test_who_waits_to_be_woken_goes_on_within_the_callers_call() -> None:
    env, log = LeanEnv(), Log()

    def waiter() -> Story:
        while True:
            what = yield UNTIL_WOKEN
            log.append((env.now_ns, what))

    process = env.process(waiter())
    env.at(3, lambda _: process.wake("first"), None)
    env.at(3, lambda _: log.append((env.now_ns, "after the call")), None)
    env.at(4, lambda _: process.wake("second"), None)
    env.run_until(10)
    assert log == [(3, "first"), (3, "after the call"), (4, "second")]


def test_a_process_that_wakes_another_is_the_running_one_again_afterwards() -> None:
    env = LeanEnv()
    seen: list[Process] = []

    def woken() -> Story:
        yield UNTIL_WOKEN
        seen.append(env.this_process)
        yield 1

    def waker(other: Process) -> Story:
        yield 1
        other.wake()
        seen.append(env.this_process)

    one = env.process(woken())
    two = env.process(waker(one))
    env.run_until(10)
    assert seen == [one, two]


@pytest.mark.parametrize("wait", [7, UNTIL_WOKEN])
def test_an_interrupt_ends_either_wait(wait: int | None) -> None:
    env, log = LeanEnv(), Log()

    def sleeper() -> Story:
        try:
            yield wait
        except simpy.Interrupt as interrupt:
            log.append((env.now_ns, str(interrupt.cause)))
        yield 10
        log.append((env.now_ns, "slept"))

    def disturber(other: Process) -> Story:
        yield 3
        other.interrupt("noise")

    env.process(disturber(env.process(sleeper())))
    env.run_until(50)
    assert log == [(3, "noise"), (13, "slept")]


def test_sleeps_mix_with_events_conditions_and_results() -> None:
    env, log = LeanEnv(), Log()

    def worker() -> Story:
        yield 4
        return "done"

    def boss() -> Story:
        work = env.process(worker())
        result = yield work
        log.append((env.now_ns, result))
        yield env.timeout(2) & env.timeout(3)
        yield work  # An event of the past takes no time.
        log.append((env.now_ns, "all"))

    env.process(boss())
    env.run_until(50)
    assert log == [(4, "done"), (7, "all")]


def test_a_failure_reaches_who_waits_for_the_process() -> None:
    env, log = LeanEnv(), Log()

    def failing() -> Story:
        yield 2
        raise LookupError("lost")

    def boss() -> Story:
        try:
            yield env.process(failing())
        except LookupError as error:
            log.append((env.now_ns, str(error)))

    env.process(boss())
    env.run_until(10)
    assert log == [(2, "lost")]


def test_a_failure_that_nobody_awaits_ends_the_run() -> None:
    env = LeanEnv()

    def failing() -> Story:
        yield 2
        raise LookupError("lost")

    env.process(failing())
    with pytest.raises(LookupError, match="lost"):
        env.run_until(10)
