"""A goroutine takes together what came while it was busy."""

from __future__ import annotations

from sim.engine import LeanEnv
from sim.etcd.gatherer import Gatherer
from sim.etcd.shared_cores import Process, SharedCores
from sim.units import NS_PER_MS, NS_PER_S

LONG_NS = 1000 * NS_PER_S


def test_a_gatherer_takes_all_that_came_meanwhile() -> None:
    env = LeanEnv()
    turns: list[tuple[int, list[str]]] = []
    process = Process(SharedCores(env, 1, LONG_NS), 1)

    def done(items: list[str]) -> None:
        turns.append((env.now_ns, items))

    gatherer = Gatherer(process, lambda items: 100 * len(items), done)
    gatherer.add(["a"])
    gatherer.add(["b"])
    gatherer.add(["c"])
    env.run_until(NS_PER_MS)
    assert turns == [(100, ["a"]), (300, ["b", "c"])]
