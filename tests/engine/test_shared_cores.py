"""Shared cores: slices, fairness between processes, and the two queues that theory knows."""

from __future__ import annotations

from math import factorial

import pytest

from sim.engine import LeanEnv
from sim.etcd.shared_cores import Program, SharedCores
from sim.streams import Streams
from sim.units import NS_PER_MS, NS_PER_S, NS_PER_US

LONG_NS = 1000 * NS_PER_S


def _finishes(env: LeanEnv, process: Program, services_ns: list[int]) -> list[int]:
    ended: list[int] = []
    for service_ns in services_ns:
        process.submit(service_ns, lambda _: ended.append(env.now_ns), None)
    return ended


def test_two_jobs_on_two_cores_do_not_meet() -> None:
    env = LeanEnv()
    ended = _finishes(env, Program(SharedCores(env, 2, LONG_NS), 2), [300, 500])
    env.run_until(NS_PER_MS)
    assert ended == [300, 500]


def test_a_process_runs_at_most_its_threads() -> None:
    env = LeanEnv()
    ended = _finishes(env, Program(SharedCores(env, 2, LONG_NS), 1), [300, 500])
    env.run_until(NS_PER_MS)
    assert ended == [300, 800]


def test_a_slice_ends_while_others_wait() -> None:
    env = LeanEnv()
    cores = SharedCores(env, 1, slice_ns=100)
    long = _finishes(env, Program(cores, 1), [250])
    short = _finishes(env, Program(cores, 1), [150])
    env.run_until(NS_PER_MS)
    # long 0-100, short 100-200, long 200-300, short 300-350, long 350-400
    assert (long, short) == ([400], [350])


def test_who_is_owed_time_pushes_away_who_has_had_more_than_its_share() -> None:
    env = LeanEnv()
    cores = SharedCores(env, 1, slice_ns=100)
    long, short = Program(cores, 1), Program(cores, 1)
    _finishes(env, long, [1000])
    env.run_until(50)
    first = _finishes(env, short, [30])
    env.run_until(140)  # It ran from 100 to 130 and left with less than its share.
    second = _finishes(env, short, [20])
    env.run_until(NS_PER_MS)
    assert (first, second) == ([130], [160])


def test_nobody_is_pushed_away_before_it_has_had_its_share() -> None:
    env = LeanEnv()
    cores = SharedCores(env, 1, slice_ns=100)
    processes = [Program(cores, 1) for _ in range(3)]
    ended = [_finishes(env, process, [100]) for process in processes[:2]]
    env.run_until(110)  # The second has run for 10 ns after the first; a third wakes up.
    ended.append(_finishes(env, processes[2], [100]))
    env.run_until(NS_PER_MS)
    assert ended == [[100], [200], [300]]


def test_who_has_had_too_much_sleeps_on_its_debt() -> None:
    env = LeanEnv()
    cores = SharedCores(env, 1, slice_ns=100)
    greedy, long, fresh = (Program(cores, 1) for _ in range(3))
    _finishes(env, greedy, [100])
    _finishes(env, long, [1000])
    env.run_until(101)
    again = _finishes(env, greedy, [10])
    env.run_until(102)
    later = _finishes(env, fresh, [10])
    env.run_until(NS_PER_MS)
    assert (later, again) == ([210], [220])


def test_an_idle_core_needs_its_time_to_wake_up() -> None:
    env = LeanEnv()
    ended = _finishes(env, Program(SharedCores(env, 1, LONG_NS, wake_ns=12), 1), [300, 500])
    env.run_until(NS_PER_MS)
    assert ended == [312, 812]


def test_a_process_does_its_jobs_in_the_order_in_which_they_came() -> None:
    env = LeanEnv()
    process = Program(SharedCores(env, 1, LONG_NS), 1)
    ended: list[str] = []

    def brings_two(_: object) -> None:
        for name in "ab":
            process.submit(10, ended.append, name)

    process.submit(10, brings_two, None)
    process.submit(10, ended.append, "before")
    env.run_until(NS_PER_MS)
    assert ended == ["before", "a", "b"]


@pytest.mark.parametrize("load", [0.5, 0.8])
def test_short_slices_share_the_processor(load: float) -> None:
    """M/G/1 processor sharing: the mean sojourn is service / (1 - load), whatever the services.

    Source: Kleinrock, Queueing Systems, volume 2, 4.4.
    """
    short_ns, long_ns = 20 * NS_PER_US, 380 * NS_PER_US
    env = LeanEnv()
    cores = SharedCores(env, 1, slice_ns=2 * NS_PER_US)
    stays = _open_queue(env, cores, load, [short_ns, long_ns], seed=5)
    for service_ns, each in stays.items():
        assert sum(each) / len(each) == pytest.approx(service_ns / (1 - load), rel=0.1)


def test_long_slices_of_one_process_are_erlang_c() -> None:
    """M/M/2, first come first served: the mean wait is C(2, load) x service / (2 (1 - load)).

    Source: Erlang 1917; Kleinrock, Queueing Systems, volume 1, 3.5.
    """
    load, mean_ns = 0.7, 100 * NS_PER_US
    env = LeanEnv()
    process = Program(SharedCores(env, 2, LONG_NS), 2)
    stream = Streams(3, 0).stream("arrivals")
    waits: list[int] = []

    def ended(what: tuple[int, int]) -> None:
        waits.append(env.now_ns - sum(what))

    def arrive(_: object) -> None:
        service_ns = 1 + int(stream.exponential(mean_ns))
        process.submit(service_ns, ended, (env.now_ns, service_ns))
        env.at(env.now_ns + int(stream.exponential(mean_ns / (2 * load))), arrive, None)

    arrive(None)
    env.run_until(6 * NS_PER_S)
    expected_ns = _erlang_c(2, load) * mean_ns / (2 * (1 - load))
    assert sum(waits) / len(waits) == pytest.approx(expected_ns, rel=0.05)


def _open_queue(
    env: LeanEnv, cores: SharedCores, load: float, services_ns: list[int], seed: int
) -> dict[int, list[int]]:
    """Returns the stays of Poisson arrivals, each a process of its own, by service."""
    stream = Streams(seed, 0).stream("arrivals")
    mean_ns = sum(services_ns) / len(services_ns)
    stays: dict[int, list[int]] = {service_ns: [] for service_ns in services_ns}

    def ended(what: tuple[int, int]) -> None:
        stays[what[0]].append(env.now_ns - what[1])

    def arrive(_: object) -> None:
        service_ns = services_ns[stream.randint(0, len(services_ns) - 1)]
        Program(cores, 1).submit(service_ns, ended, (service_ns, env.now_ns))
        env.at(env.now_ns + int(stream.exponential(mean_ns / load)), arrive, None)

    arrive(None)
    env.run_until(4 * NS_PER_S)
    return stays


def _erlang_c(servers: int, load: float) -> float:
    offered = servers * load
    waiting = offered**servers / factorial(servers) / (1 - load)
    return waiting / (sum(offered**n / factorial(n) for n in range(servers)) + waiting)
