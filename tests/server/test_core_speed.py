"""Faster cores are smaller costs: of stores and TiDB nodes each their own.

Proves: a speed of 2 gives the facts of costs that are half, and no others (an identity).
"""

from __future__ import annotations

from dataclasses import fields, replace

from analysis.study.load import load_study
from sim.record.facts import MemorySink
from sim.scenario import Scenario
from sim.scenario.schema.hardware import CpuCosts
from sim.simulation import run_unit
from tests.stub_model import QUICKSTART

SHORT = ["workload.threads=30", "run.warmup=20ms", "run.measure=80ms", "run.window=20ms",
         "run.checks=false"]  # fmt: skip
OF_TIDB = ("tidb_",)
OF_STORES = ("tikv_", "store_", "log_", "raftdb_", "kvdb_", "apply_", "compaction_",
             "grpc_request")  # fmt: skip


def facts(scenario: Scenario) -> dict[str, list[tuple[object, ...]]]:
    sink = MemorySink()
    run_unit(scenario, 0, sink)
    return {table: list(sink.rows(table)) for table in sorted(sink.tables)}


def even_costs() -> Scenario:
    """Returns the quickstart with costs that can be halved; none is both kinds of node's."""
    scenario = load_study(QUICKSTART, SHORT).variants["in_memory"]
    own = scenario.hardware.cpu
    costs = {
        each.name: getattr(own, each.name) // 2 * 2
        for each in fields(CpuCosts)
        if each.name.endswith("_ns") and isinstance(getattr(own, each.name), int)
    }
    return with_costs(scenario, replace(own, **costs | {"grpc_message_ns": 0, "thread_run_ns": 0}))


def with_costs(scenario: Scenario, cpu: CpuCosts) -> Scenario:
    return replace(scenario, hardware=replace(scenario.hardware, cpu=cpu))


def halved(cpu: CpuCosts, beginnings: tuple[str, ...]) -> CpuCosts:
    costs = {
        each.name: value // 2 if isinstance(value, int) else value / 2
        for each in fields(cpu)
        if each.name.startswith(beginnings)
        for value in [getattr(cpu, each.name)]
    }
    return replace(cpu, **costs)


def test_stores_of_twice_the_speed_have_half_the_costs() -> None:
    scenario = even_costs()
    fast = replace(scenario, hardware=replace(scenario.hardware, store_core_speed=2.0))
    cheap = with_costs(scenario, halved(scenario.hardware.cpu, OF_STORES))
    assert facts(fast) == facts(cheap) != facts(scenario)


def test_tidb_nodes_of_twice_the_speed_have_half_the_costs() -> None:
    scenario = even_costs()
    fast = replace(scenario, hardware=replace(scenario.hardware, tidb_core_speed=2.0))
    cheap = with_costs(scenario, halved(scenario.hardware.cpu, OF_TIDB))
    assert facts(fast) == facts(cheap) != facts(scenario)


def test_waking_a_thread_takes_as_long() -> None:
    own = even_costs().hardware.cpu
    assert own.on(2.0).thread_hop_ns == own.thread_hop_ns
    assert own.on(2.0).thread_run_ns == own.thread_run_ns / 2
    assert own.on(1.0) is own
