"""A pool runs its jobs in order, and shares its node's cores with other pools."""

import pytest

from sim.engine import Cores, LeanEnv, ThreadPool


def finishes(pool: ThreadPool, env: LeanEnv, services: list[int]) -> list[tuple[int, int]]:
    log: list[tuple[int, int]] = []
    for number, service in enumerate(services):
        pool.submit(service, lambda job: log.append((env.now_ns, job)), number)
    env.run_until(env.now_ns + 10**6)
    return log


def test_jobs_wait_for_a_thread_in_order() -> None:
    env = LeanEnv()
    pool = ThreadPool(env, Cores(8), 2)
    assert finishes(pool, env, [30, 10, 20, 5]) == [(10, 1), (30, 0), (30, 2), (35, 3)]
    assert (pool.busy_until(env.now_ns), env.events) == (65, 4)


def test_a_job_counts_as_it_runs_not_when_it_begins() -> None:
    env = LeanEnv()
    pool = ThreadPool(env, Cores(8), 2)
    for service in (30, 10, 20):
        pool.submit(service, lambda _: None, None)
    busy = []
    for now_ns in (5, 15, 30, 40):
        env.run_until(now_ns)
        busy.append(pool.busy_until(now_ns))
    assert busy == [10, 30, 60, 60]


def test_more_threads_than_cores_run_slower() -> None:
    env = LeanEnv()
    cores = Cores(2)
    crowd = ThreadPool(env, cores, 4)
    other = ThreadPool(env, cores, 1)
    assert 100 * cores.slowness() == 100
    for _ in range(3):
        crowd.submit(100, lambda _: None, None)
    # Two cores, four threads: each gets half a core.
    assert 100 * cores.slowness() == 200
    assert finishes(other, env, [100]) == [(200, 0)]
    assert cores.running == 0
    assert crowd.busy_until(env.now_ns) == 100 + 100 + 150
    assert cores.busy_ns == 400, "what was done: two cores are never more than twice busy"


def test_the_second_thread_of_a_core_adds_less_than_the_first() -> None:
    cores = Cores(4, threads_per_core=2, smt_gain=0.5)
    slowness = []
    for _ in range(6):
        slowness.append(cores.slowness())
        cores.occupy(1, 0)
    # Two cores: work done a second is 1, and 3 with all four threads, never more. One of two
    # threads meets the other in one case of three, and then both do three quarters.
    speeds = [1, 11 / 12, 10 / 12, 9 / 12, 9 / 12 * 4 / 5, 9 / 12 * 4 / 6]
    assert slowness == pytest.approx([1 / speed for speed in speeds])


def test_background_work_slows_down_whoever_is_waited_for() -> None:
    cores = Cores(2)
    for _ in range(4):
        cores.background_ns += 500
    assert 100 * cores.slowness() == 100, "not before the next settling"
    cores.settle(1_000, 1_000)
    assert cores.background == 2
    assert 100 * cores.slowness() == 150
    cores.settle(2_000, 1_000)
    assert cores.busy_ns == 2_000
    assert 100 * cores.slowness() == 100, "nothing came since"


def test_threads_of_other_programs_slow_down_everybody_until_they_end() -> None:
    cores = Cores(4)
    cores.stressed = 3
    assert cores.slowness() == 1, "not before the next settling"
    cores.background_ns += 1_000
    cores.settle(1_000, 1_000)
    assert cores.background == 4
    assert cores.slowness() == 1.25
    assert cores.busy_ns == 4_000
    cores.stressed = 0
    cores.settle(2_000, 1_000)
    assert cores.slowness() == 1
    assert cores.busy_ns == 4_000


def test_a_thread_that_waits_for_a_disk_takes_no_cpu() -> None:
    env = LeanEnv()
    cores = Cores(8)
    pool = ThreadPool(env, cores, 1)
    log: list[tuple[int, str]] = []
    pool.submit(10, lambda name: log.append((env.now_ns, name)), "reads", lambda _: 100)
    pool.submit(10, lambda name: log.append((env.now_ns, name)), "waits for the thread")
    env.run_until(1_000)
    assert log == [(110, "reads"), (120, "waits for the thread")]
    assert (pool.busy_until(env.now_ns), cores.busy_ns) == (120, 20)


def test_a_disk_is_asked_when_a_thread_takes_the_job() -> None:
    env = LeanEnv()
    pool = ThreadPool(env, Cores(8), 1)
    asked_ns: list[int] = []

    def sleep(now_ns: int) -> int:
        asked_ns.append(now_ns)
        return 100

    for _ in range(3):
        pool.submit(10, lambda _: None, None, sleep)
    env.run_until(1_000)
    assert asked_ns == [0, 110, 220]


def test_a_thread_slows_down_others_by_the_part_of_its_job_that_it_runs() -> None:
    cores = Cores(2)
    env = LeanEnv()
    pool = ThreadPool(env, cores, 8)
    for _ in range(6):  # Half of the time on a disk: three threads on two cores.
        pool.submit(100, lambda _: None, None, lambda _: 100)
    assert 100 * cores.slowness() == 200
    env.run_until(10**6)
    assert cores.running == 0
    assert cores.occupy(0, 50) == 0, "a thread that only sleeps is in nobody's way"


def test_a_job_waits_until_an_idle_thread_is_awake_but_a_busy_thread_goes_on() -> None:
    env = LeanEnv()
    cores = Cores(8, hop_ns=5)
    pool = ThreadPool(env, cores, 1)
    assert finishes(pool, env, [30, 10]) == [(35, 0), (45, 1)]
    assert finishes(pool, env, [10]) == [(10**6 + 15, 0)]
    assert (pool.busy_until(env.now_ns), cores.busy_ns) == (60, 60), "waking takes CPU"
