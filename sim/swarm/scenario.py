"""From a recipe to the resolved scenario of its cluster.

Time runs fast here: an election takes some ten ticks of 10 to 40 ms, and what TiKV does every ten
seconds is done after a few ticks, so that a second of simulated time sees a cluster's whole life.
"""

from dataclasses import replace
from functools import cache
from typing import Any, Final, cast

from sim.scenario.problems import Problem, ScenarioError
from sim.scenario.reader import read_text
from sim.scenario.resolve import resolved
from sim.scenario.resolved import Scenario
from sim.scenario.schema.tikv import Fallback
from sim.swarm.recipe import Recipe
from sim.units import NS_PER_MS, NS_PER_S

_BASE: Final = """
run: {seed: 0, warmup: 0s, measure: 1s}
hardware:
  profile: i3.4xlarge
  cpu:
    client_statement: 600us
    tidb_statement: 400us
    tidb_write: 0us
    tidb_row: 0us
    tidb_request: 0us
    grpc_request: 0us
    tikv_read: 105us
    tikv_command: 105us
    tikv_key: 14us
    tikv_load_lock: 14us
    tikv_record: 0us
    tikv_finish: 10us
    tikv_row: 700ns
    tikv_block: 0us
    store_visit: 0us
    store_message: 54us
    log_byte: 0
    raftdb_record: 0us
    apply_command: 25us
    apply_record: 0us
    kvdb_record: 5us
    compaction_byte: 0
    thread_hop: 30us
    thread_run: 30us
tikv: {behaviour: %s}
workload: {kind: tpcc, warehouses: 1, threads: 1}
"""
"""Its CPU costs are its own: a seed keeps its history when a published figure is fitted anew."""

ELECTION_TICKS: Final = 10
OLD_VERSION: Final = "5.4.0"
NEW_VERSION: Final = "8.5.0"


@cache
def _base(behaviour: str) -> Scenario:
    """Returns a scenario with the defaults of one version."""
    problems: list[Problem] = []
    scenario = resolved(read_text(_BASE % behaviour, "swarm"), "a swarm's run", problems)
    if scenario is None or problems:
        raise ScenarioError(problems)
    return scenario


def scenario_of(recipe: Recipe) -> Scenario:
    """Returns the scenario of a recipe's cluster; its workload section is not used."""
    base, times = _base(recipe.behaviour), recipe.slow_cpu
    cpu = base.hardware.cpu
    slow = replace(
        cpu,
        tikv_read_ns=cpu.tikv_read_ns * times,
        tikv_command_ns=cpu.tikv_command_ns * times,
        store_message_ns=cpu.store_message_ns * times,
        apply_command_ns=cpu.apply_command_ns * times,
        kvdb_record_ns=cpu.kvdb_record_ns * times,
    )
    cluster = replace(
        base.cluster,
        stores=recipe.stores,
        replicas=recipe.replicas,
        tidb_nodes=recipe.tidb_nodes,
        regions=recipe.regions,
        store_versions=(OLD_VERSION,) * recipe.old_stores
        + base.cluster.store_versions[:1] * (recipe.stores - recipe.old_stores),
        tidb=replace(
            base.cluster.tidb,
            fair_locking=recipe.fair_locking,
            async_commit=recipe.async_commit,
            one_pc=recipe.one_pc,
            innodb_lock_wait_timeout_ns=3 * NS_PER_S,
        ),
    )
    return replace(
        base,
        run=replace(base.run, seed=recipe.seed, measure_ns=recipe.busy_ns),
        cluster=cluster,
        hardware=replace(
            base.hardware,
            cpu=slow,
            lsm=replace(base.hardware.lsm, write_amplification=recipe.write_amplification),
        ),
        tikv=replace(base.tikv, **_tikv(recipe)),
    )


def _tikv(recipe: Recipe) -> dict[str, Any]:
    tick_ns = recipe.tick_ms * NS_PER_MS
    return {
        "behaviour": recipe.behaviour,
        "pipelined": recipe.pipelined,
        "in_memory": recipe.in_memory,
        "in_memory_fallback": cast("Fallback", recipe.fallback),
        "in_memory_peer_size_limit_bytes": recipe.peer_limit_bytes,
        "in_memory_instance_size_limit_bytes": recipe.instance_limit_bytes,
        "store_io_pool_size": recipe.store_io_pool_size,
        "cmd_batch": recipe.cmd_batch,
        "raft_base_tick_interval_ns": tick_ns,
        "raft_heartbeat_ticks": 2,
        "raft_election_timeout_ticks": ELECTION_TICKS,
        "raft_store_max_leader_lease_ns": (ELECTION_TICKS - 1) * tick_ns,
        "reactive_memory_lock_tick_interval_ns": 2 * tick_ns,
        "merge_check_tick_interval_ns": 2 * tick_ns,
        "raft_entry_max_size_bytes": recipe.entry_max_bytes,
        "leader_transfer_max_log_lag": recipe.max_log_gap,
        "merge_max_log_gap": min(10, (recipe.max_log_gap + 1) // 2),
        "ablations": recipe.ablations,
    }
