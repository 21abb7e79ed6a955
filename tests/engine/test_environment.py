"""LeanEnv runs calls and SimPy's events in SimPy's own order."""

from collections.abc import Callable
from typing import Any

import pytest
import simpy
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.engine import LeanEnv

Log = list[tuple[int, str]]
Steps = list[tuple[str, int]]
Process = simpy.events.ProcessGenerator


class Scene:
    """Processes that wait, pass things on, queue at a desk and interrupt each other."""

    def __init__(self, env: simpy.Environment, scripts: list[Steps]) -> None:
        self.env = env
        self.log: Log = []
        self.store = simpy.Store(env)
        self.desk = simpy.PriorityResource(env)
        self.lives = [env.process(self.live(i, steps)) for i, steps in enumerate(scripts)]

    def live(self, number: int, steps: Steps) -> Process:
        for verb, value in steps:
            try:
                result = yield from getattr(self, verb)(value)
            except simpy.Interrupt as interrupt:
                result = f"interrupted by {interrupt.cause}"
            self.log.append((int(self.env.now), f"{number} {verb} {result}"))

    def wait(self, value: int) -> Process:
        return (yield self.env.timeout(value, value))

    def put(self, value: int) -> Process:
        yield self.store.put(value)

    def get(self, value: int) -> Process:
        got = self.store.get()
        yield got | self.env.timeout(value)
        return got.triggered

    def both(self, value: int) -> Process:
        both = yield self.env.timeout(value, value) & self.env.timeout(2)
        return list(both.todict().values())

    def queue(self, value: int) -> Process:
        with self.desk.request(priority=value) as turn:
            yield turn
            yield self.env.timeout(1)

    def interrupt(self, value: int) -> Process:
        other = self.lives[value % len(self.lives)]
        if other.is_alive and other is not self.env.active_process:
            other.interrupt(value)
        yield self.env.timeout(0)
        return other.is_alive


def play(env: simpy.Environment, scripts: list[Steps]) -> Log:
    scene = Scene(env, scripts)
    env.run(until=40)
    return [*scene.log, (int(env.now), "end")]


verbs = st.sampled_from(["wait", "put", "get", "both", "queue", "interrupt"])
scenes = st.lists(st.lists(st.tuples(verbs, st.integers(0, 4)), max_size=6), min_size=1, max_size=6)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(scenes)
def test_the_order_of_events_is_that_of_stock_simpy(scene: list[Steps]) -> None:
    assert play(LeanEnv(), scene) == play(simpy.Environment(), scene)


def test_calls_of_one_instant_run_in_the_order_they_were_put() -> None:
    env, log = LeanEnv(), list[str]()
    env.timeout(5).callbacks.append(lambda _: log.append("timeout"))
    env.at(5, log.append, "first")
    env.at(5, log.append, "second")
    env.at(4, log.append, "earlier")
    env.run_until(6)
    assert log == ["earlier", "timeout", "first", "second"]


def test_a_new_process_begins_before_calls_of_its_instant() -> None:
    env, log = LeanEnv(), list[str]()

    def process() -> Process:
        log.append("process")
        yield env.timeout(1)

    env.at(0, log.append, "call")
    env.process(process())
    env.run_until(1)
    assert log == ["process", "call"]


@pytest.mark.parametrize("run", [LeanEnv.run, LeanEnv.run_until])
def test_a_run_ends_before_its_last_instant(run: Callable[[LeanEnv, int], object]) -> None:
    env, log = LeanEnv(), list[int]()
    for time_ns in (9, 10):
        env.at(time_ns, log.append, time_ns)
    run(env, 10)
    assert (log, env.now_ns, env.now) == ([9], 10, 10)
    run(env, 11)
    assert log == [9, 10]


def test_events_counts_what_was_executed() -> None:
    env = LeanEnv()
    seen: list[int] = []
    for time_ns in range(10):
        env.at(time_ns, lambda _: seen.append(env.events), None)
    env.run_until(5)
    assert env.events == 5
    assert seen == [1, 2, 3, 4, 5]


def test_a_failing_call_leaves_a_queue_that_runs_on() -> None:
    env, log = LeanEnv(), list[str]()

    def fail(_: Any) -> None:
        raise ZeroDivisionError

    env.at(1, fail, None)
    env.at(2, log.append, "after")
    with pytest.raises(ZeroDivisionError):
        env.run_until(10)
    assert env.events == 1
    env.run_until(10)
    assert log == ["after"]


def test_a_failed_event_that_nobody_handles_stops_the_run() -> None:
    env = LeanEnv()
    env.event().fail(KeyError("lost"))
    with pytest.raises(KeyError, match="lost"):
        env.run_until(1)


def test_fire_wakes_a_process_without_the_queue() -> None:
    env, log = LeanEnv(), list[Any]()
    door = env.event()

    def waits() -> Process:
        log.append((yield door))

    env.process(waits())
    env.at(7, lambda value: env.fire(door, value), "open")
    env.at(7, log.append, "later call")
    env.run_until(8)
    assert log == ["open", "later call"]
    with pytest.raises(RuntimeError, match="already"):
        env.fire(door)


def test_fire_inside_a_process_leaves_that_process_active() -> None:
    env = LeanEnv()
    door = env.event()

    def waits() -> Process:
        yield door

    def opens() -> Process:
        yield env.timeout(1)
        env.fire(door)
        assert env.active_process is opener

    env.process(waits())
    opener = env.process(opens())
    env.run_until(2)
    assert opener.ok


def test_run_until_an_event_returns_its_value() -> None:
    env = LeanEnv()
    assert env.run(until=env.timeout(3, "done")) == "done"
    assert env.now_ns == 3
    with pytest.raises(RuntimeError):
        env.run(until=env.event())


def test_time_is_whole_and_does_not_go_back() -> None:
    env = LeanEnv(5)
    with pytest.raises(TypeError, match="whole nanoseconds"):
        env.timeout(1.5)
    with pytest.raises(AssertionError, match="before now"):
        env.at(4, print, None)
    with pytest.raises(AssertionError, match="before now"):
        env.run_until(4)


def test_peek_and_step() -> None:
    env, log = LeanEnv(), list[str]()
    assert env.peek() == float("inf")
    env.at(3, log.append, "x")
    assert env.peek() == 3
    env.step()
    assert log == ["x"]
    with pytest.raises(simpy.core.EmptySchedule):
        env.step()
