"""From a resolved scenario back to what a file would say: complete, with units, to be run again.

Law: reading the document of a scenario gives that scenario.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sim.distributions import (
    Constant,
    Distribution,
    Empirical,
    Exponential,
    Lognormal,
    LognormalMean,
    Spiky,
)
from sim.hardware.crowding import Crowding
from sim.hardware.disk import DiskSpec
from sim.scenario.document_etcd import etcd_hardware_document, etcd_workload_document
from sim.scenario.document_operations import operations_document
from sim.scenario.document_tikv import tikv_document
from sim.scenario.profiles import SHARED
from sim.scenario.quantities import BANDWIDTH, DURATION, RATE, SIZE
from sim.scenario.resolved import (
    ETCD,
    Cluster,
    Hardware,
    Run,
    Scenario,
    StatementSpec,
    TransactionSpec,
    Workload,
)

Document = dict[str, Any]


def document_of(scenario: Scenario) -> Document:
    """Returns the sections of a file that describes this scenario alone."""
    document = {
        "about": scenario.about,
        "run": _run(scenario.run),
        "cluster": _cluster(scenario.cluster),
        "hardware": _hardware(scenario.hardware) | etcd_hardware_document(scenario),
        "tikv": tikv_document(scenario.tikv),
        "workload": _workload(scenario.workload),
    }
    if scenario.operations:
        document["operations"] = operations_document(scenario.operations)
    return document


def differences(base: Mapping[str, Any], other: Mapping[str, Any], prefix: str = "") -> Document:
    """Returns the dotted overrides that turn one document into another; None: without that key."""
    overrides: Document = {}
    for key in [*base, *(key for key in other if key not in base)]:
        mine, theirs, name = base.get(key), other.get(key), f"{prefix}{key}"
        if isinstance(mine, dict) and isinstance(theirs, dict) and _same_kind(mine, theirs):
            overrides |= differences(mine, theirs, f"{name}.")
        elif mine != theirs:
            overrides[name] = theirs
    return overrides


def _same_kind(mine: Document, theirs: Document) -> bool:
    """Returns False for workloads whose keys have nothing in common; one replaces the other."""
    return bool(mine.get("kind") == theirs.get("kind"))


def _time(ns: int) -> str:
    return DURATION.text_of(ns)


def _run(run: Run) -> Document:
    return {
        "seed": run.seed,
        "warmup": "auto" if run.warmup_ns is None else _time(run.warmup_ns),
        "measure": _time(run.measure_ns),
        "replications": run.replications,
        "window": _time(run.window_ns),
        "checks": run.checks,
    }


def _cluster(cluster: Cluster) -> Document:
    tidb = cluster.tidb
    return {
        "stores": cluster.stores,
        "replicas": cluster.replicas,
        "zones": cluster.zones,
        "tidb_nodes": cluster.tidb_nodes,
        "regions": "auto" if cluster.regions is None else cluster.regions,
        "store_versions": _versions(cluster.store_versions),
        "tidb": {
            "tidb_enable_async_commit": tidb.async_commit,
            "tidb_enable_1pc": tidb.one_pc,
            "tidb_guarantee_linearizability": tidb.guarantee_linearizability,
            "innodb_lock_wait_timeout": _time(tidb.innodb_lock_wait_timeout_ns),
            "tidb_pessimistic_txn_fair_locking": tidb.fair_locking,
            "pessimistic-txn.max-retry-count": tidb.max_retry_count,
        },
    }


def _versions(versions: Sequence[str]) -> str | list[str]:
    """Returns one version for all stores where they agree, however many there will be."""
    return versions[0] if len(set(versions)) == 1 else list(versions)


def _hardware(hardware: Hardware) -> Document:
    cpu, lsm, network = hardware.cpu, hardware.lsm, hardware.network
    latencies = {"same_zone": shape_of(network.same_zone)}
    if network.cross_zone is not None:
        latencies["cross_zone"] = shape_of(network.cross_zone)
    return {
        "profile": hardware.profile,
        "disk": {
            "raft": _disk(hardware.raft_disk),
            "kv": SHARED if hardware.kv_disk is None else _disk(hardware.kv_disk),
        },
        "file_system": hardware.file_system,
        "network": latencies | {"bandwidth": BANDWIDTH.text_of(network.bandwidth_bytes_per_s)},
        "store_cores": hardware.store_cores,
        "threads_per_core": hardware.threads_per_core,
        "tidb_cores": hardware.tidb_cores,
        "store_memory": SIZE.text_of(hardware.store_memory_bytes),
        "cpu": {
            "tidb_statement": _time(cpu.tidb_statement_ns),
            "statement_delay": _time(cpu.statement_delay_ns),
            "tikv_request": _time(cpu.tikv_request_ns),
            "tikv_background": _time(cpu.tikv_background_ns),
            "tikv_extra_key": cpu.tikv_extra_key,
            "store_message": _time(cpu.store_message_ns),
            "apply_command": _time(cpu.apply_command_ns),
            "apply_key": _time(cpu.apply_key_ns),
            "thread_hop": _time(cpu.thread_hop_ns),
            "smt_gain": cpu.smt_gain,
            "cv": cpu.cv,
        },
        "lsm": {
            "write_amplification": lsm.write_amplification,
            "lock_write_amplification": lsm.lock_write_amplification,
            "raftdb_rewrite": lsm.raftdb_rewrite,
            "raft_engine_compression": lsm.raft_engine_compression,
        },
    }


def _disk(disk: DiskSpec) -> Document:
    document = {
        "name": disk.name,
        "write_bandwidth": BANDWIDTH.text_of(disk.write_bytes_per_s),
        "write_iops": disk.write_iops,
        "append": shape_of(disk.append),
        "page": SIZE.text_of(disk.page_bytes),
        "largest_io": SIZE.text_of(disk.io_bytes),
        "throttled": disk.throttled,
        "burst": _time(disk.burst_ns),
    }
    # Left out where it is not said, so that hashes of scenarios without it stay as they were.
    return document | _measured(disk)


def _measured(disk: DiskSpec) -> Document:
    document: Document = {}
    if disk.longer:
        document["longer"] = [
            {"size": SIZE.text_of(each.size_bytes), "latency": shape_of(each.latency)}
            for each in disk.longer
        ]
    if disk.crowding is not None:
        document["crowding"] = _crowding(disk.crowding)
    if disk.fetch is not None:
        document["fetch"] = shape_of(disk.fetch)
    if disk.fetch_crowding is not None:
        document["fetch_crowding"] = _crowding(disk.fetch_crowding)
    return document


def _crowding(crowding: Crowding) -> Document:
    levels = [
        {"in_flight": each.in_flight, "latency": shape_of(each.latency)} for each in crowding.crowds
    ]
    further = {} if crowding.further is None else {"further": shape_of(crowding.further)}
    return {"levels": levels} | further


def shape_of(distribution: Distribution) -> Document:
    """Returns how a file writes a distribution."""
    match distribution:
        case Constant(value_ns):
            return {"value": _time(value_ns)}
        case Exponential(mean_ns):
            return {"mean": _time(mean_ns)}
        case LognormalMean(mean_ns, cv):
            return {"mean": _time(mean_ns), "cv": cv}
        case Lognormal(p50_ns, p99_ns):
            return {"p50": _time(p50_ns), "p99": _time(p99_ns)}
        case Empirical(quantiles):
            return {"quantiles": [[probability, _time(ns)] for probability, ns in quantiles]}
        case Spiky(base, probability, lo_ns, hi_ns):
            spikes = {
                "probability": probability, "shortest": _time(lo_ns), "longest": _time(hi_ns),
            }  # fmt: skip
            return shape_of(base) | {"spikes": spikes}


def _workload(workload: Workload) -> Document:
    document: Document = {"kind": workload.kind}
    if workload.threads is not None:
        document["threads"] = workload.threads
    if workload.rate_per_s is not None:
        document["rate"] = RATE.text_of(workload.rate_per_s)
    if workload.think_time is not None:
        document["think_time"] = shape_of(workload.think_time)
    if workload.kind == ETCD:
        return document | etcd_workload_document(workload)
    if workload.kind == "custom":
        return document | _custom(workload)
    if workload.kind != "tpcc":
        return document | {
            "tables": workload.tables,
            "table_rows": workload.table_rows,
            "rand_type": workload.rand_type,
        }
    mix = {} if workload.mix is None else {"mix": dict(workload.mix)}
    return document | {"warehouses": workload.warehouses} | mix


def _custom(workload: Workload) -> Document:
    return {
        "tables": {
            table.name: {"rows": table.rows, "row_bytes": SIZE.text_of(table.row_bytes)}
            for table in workload.custom_tables
        },
        "transactions": {spec.name: _transaction(spec) for spec in workload.transactions},
    }


def _transaction(spec: TransactionSpec) -> Document:
    statements = [_statement(statement) for statement in spec.statements]
    return {"weight": spec.weight, "autocommit": spec.autocommit, "statements": statements}


def _statement(spec: StatementSpec) -> Document:
    document: Document = {spec.verb: spec.table}
    if spec.rows is not None:
        document["rows"] = spec.rows
    if spec.hot_rows:
        document["hot"] = {"rows": spec.hot_rows, "fraction": spec.hot_fraction}
    if spec.like:
        document["like"] = spec.like
    if spec.pause_ns:
        document["pause"] = _time(spec.pause_ns)
    return document
