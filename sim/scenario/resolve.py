"""From a tree to a resolved scenario: sections validated, defaults that depend on others filled in.

Contradictions between sections are found here; those inside one section are the schema's.
"""

from __future__ import annotations

from dataclasses import replace

from sim.hardware.disk import DiskSpec
from sim.hardware.network import NetworkSpec
from sim.scenario.problems import Problem, shown, suggestion
from sim.scenario.profiles import expanded
from sim.scenario.resolve_operations import resolved_operations
from sim.scenario.resolve_tikv import resolved_tikv
from sim.scenario.resolved import (
    Cluster,
    CpuCosts,
    EtcdCosts,
    Hardware,
    LsmSpec,
    Run,
    Scenario,
    TableSpec,
    Tidb,
    Workload,
)
from sim.scenario.schema.etcd import EtcdCostsSection, EtcdSection
from sim.scenario.schema.hardware import DiskSection, HardwareSection
from sim.scenario.schema.run import ClusterSection, RunSection
from sim.scenario.schema.tikv import DEFAULTS, TikvSection
from sim.scenario.schema.workload import (
    SECTIONS,
    AnyWorkload,
    CustomSection,
    SysbenchSection,
    TpccSection,
)
from sim.scenario.tree import Node
from sim.scenario.validation import unknown_key, validated

TOP_KEYS = (
    "about", "extends", "run", "cluster", "hardware", "tikv", "workload", "operations", "compare",
    "sweep", "capacity", "sensitivity", "expect",
)  # fmt: skip


def resolved(tree: Node, about: str, problems: list[Problem]) -> Scenario | None:
    """Returns the scenario a tree describes, or None after adding its problems."""
    full = expanded(tree, problems)
    problems += [
        unknown_key(key, node, (), list(TOP_KEYS))
        for key, node in full.entries.items()
        if key not in TOP_KEYS and node.value is not None
    ]
    run = validated(full, ("run",), RunSection, problems)
    cluster = validated(full, ("cluster",), ClusterSection, problems)
    hardware = validated(full, ("hardware",), HardwareSection, problems)
    tikv = validated(full, ("tikv",), TikvSection, problems)
    workload = _workload(full, problems)
    operations = resolved_operations(full, cluster, workload, problems)
    if cluster is not None and hardware is not None:
        _check_zones(full, cluster, hardware, problems)
        _check_etcd(full, cluster, hardware, workload, problems)
    if not (run and cluster and hardware and tikv and workload):
        return None
    return Scenario(
        about=about,
        run=_run(run),
        cluster=_cluster(cluster, tikv),
        hardware=_hardware(hardware),
        tikv=resolved_tikv(tikv, hardware, operations),
        workload=_resolved_workload(workload),
        operations=operations,
    )


def _workload(tree: Node, problems: list[Problem]) -> AnyWorkload | None:
    """Returns the workload section of its kind."""
    node = tree.entries.get("workload")
    if node is None or node.value is None:
        mend = "write workload: {kind: tpcc, warehouses: 5000, threads: 50}"
        problems.append(Problem(tree.key_mark, "workload", f"missing; {mend}"))
        return None
    kind = node.entries.get("kind")
    name = kind.value if kind is not None else None
    if isinstance(node.value, dict) and (not isinstance(name, str) or name not in SECTIONS):
        message = f"{_no_kind(name)}; {suggestion(str(name or ''), list(SECTIONS))}"
        problems.append(Problem((kind or node).mark, "workload.kind", message))
        return None
    model = SECTIONS[name] if isinstance(name, str) else TpccSection
    return validated(tree, ("workload",), model, problems)


def _no_kind(name: object) -> str:
    if name is None:
        return "missing"
    return f"no kind {shown(name)}"


def _check_zones(
    tree: Node, cluster: ClusterSection, hardware: HardwareSection, problems: list[Problem]
) -> None:
    if cluster.zones > 1 and hardware.network.cross_zone is None:
        node = tree.find(("cluster", "zones")) or tree
        message = (
            f"{cluster.zones} zones, but the network has no latency between zones; "
            "write hardware.network: cross_zone, or one zone"
        )
        problems.append(Problem(node.mark, "cluster.zones", message))


def _check_etcd(
    tree: Node,
    cluster: ClusterSection,
    hardware: HardwareSection,
    workload: AnyWorkload | None,
    problems: list[Problem],
) -> None:
    """Finds what goes with etcd only, and what does not go with it."""
    if workload is None:
        return
    if not isinstance(workload, EtcdSection):
        if hardware.shared:
            node = tree.find(("hardware", "shared")) or tree
            message = f"stores of {workload.kind} have a machine each; write false, or kind: etcd"
            problems.append(Problem(node.mark, "hardware.shared", message))
        return
    if cluster.regions is not None:
        node = tree.find(("cluster", "regions")) or tree
        message = "etcd has one Raft group; remove it"
        problems.append(Problem(node.mark, "cluster.regions", message))
    if cluster.replicas != cluster.stores:
        node = tree.find(("cluster", "replicas")) or tree
        message = f"every member of etcd has a replica; write {cluster.stores}"
        problems.append(Problem(node.mark, "cluster.replicas", message))


def _run(section: RunSection) -> Run:
    return Run(
        seed=section.seed,
        warmup_ns=section.warmup,
        measure_ns=section.measure,
        replications=section.replications,
        window_ns=section.window,
        checks=section.checks,
    )


def _cluster(section: ClusterSection, tikv: TikvSection) -> Cluster:
    tidb = section.tidb
    fair = tidb.tidb_pessimistic_txn_fair_locking
    return Cluster(
        stores=section.stores,
        replicas=section.replicas,
        zones=section.zones,
        tidb_nodes=section.tidb_nodes,
        regions=section.regions,
        store_versions=section.versions(str(DEFAULTS[tikv.behaviour]["version"])),
        tidb=Tidb(
            async_commit=tidb.tidb_enable_async_commit,
            one_pc=tidb.tidb_enable_1pc,
            guarantee_linearizability=tidb.tidb_guarantee_linearizability,
            innodb_lock_wait_timeout_ns=tidb.innodb_lock_wait_timeout,
            fair_locking=DEFAULTS[tikv.behaviour]["fair_locking"] if fair is None else fair,
            max_retry_count=tidb.max_retry_count,
        ),
    )


def _hardware(section: HardwareSection) -> Hardware:
    cpu, lsm, network = section.cpu, section.lsm, section.network
    return Hardware(
        profile=section.profile,
        raft_disk=_disk(section.disk.raft),
        file_system=section.file_system,
        kv_disk=None if section.disk.kv is None else _disk(section.disk.kv),
        network=NetworkSpec(
            same_zone=network.same_zone.distribution(),
            cross_zone=network.cross_zone.distribution() if network.cross_zone else None,
            bandwidth_bytes_per_s=network.bandwidth,
        ),
        store_cores=section.store_cores,
        threads_per_core=section.threads_per_core,
        tidb_cores=section.tidb_cores,
        store_memory_bytes=section.store_memory,
        cpu=CpuCosts(
            tidb_statement_ns=cpu.tidb_statement,
            statement_delay_ns=cpu.statement_delay,
            tikv_request_ns=cpu.tikv_request,
            tikv_background_ns=cpu.tikv_background,
            tikv_extra_key=cpu.tikv_extra_key,
            store_message_ns=cpu.store_message,
            apply_command_ns=cpu.apply_command,
            apply_key_ns=cpu.apply_key,
            thread_hop_ns=cpu.thread_hop,
            smt_gain=cpu.smt_gain,
            cv=cpu.cv,
        ),
        lsm=LsmSpec(
            write_amplification=lsm.write_amplification,
            lock_write_amplification=lsm.lock_write_amplification,
            raftdb_rewrite=lsm.raftdb_rewrite,
            raft_engine_compression=lsm.raft_engine_compression,
        ),
        shared=section.shared,
        etcd=_etcd_costs(section.etcd),
    )


def _etcd_costs(costs: EtcdCostsSection) -> EtcdCosts:
    return EtcdCosts(
        burst_ns=costs.burst,
        request_ns=costs.request,
        client_ns=costs.client,
        round_ns=costs.round,
        entry_ns=costs.entry,
        sync_ns=costs.sync,
        backend_commit_ns=costs.backend_commit,
        byte_ns=costs.byte,
        process_share=costs.process_share,
        watch_ns=costs.watch,
        kernel_share=costs.kernel_share,
        time_slice_ns=costs.time_slice,
        wake_ns=costs.wake,
        relay_ns=costs.relay,
    )


def _disk(section: DiskSection) -> DiskSpec:
    return DiskSpec(
        name=section.name,
        write_bytes_per_s=section.write_bandwidth,
        write_iops=section.write_iops,
        append=section.append.distribution(),
        page_bytes=section.page,
        io_bytes=section.largest_io,
        throttled=section.throttled,
        burst_ns=section.burst,
        longer=tuple(each.longer() for each in section.longer),
        crowding=section.crowding.crowding() if section.crowding else None,
        fetch=section.fetch.distribution() if section.fetch else None,
        fetch_crowding=section.fetch_crowding.crowding() if section.fetch_crowding else None,
    )


def _resolved_workload(section: AnyWorkload) -> Workload:
    arrival = Workload(
        kind=section.kind,
        threads=section.threads,
        rate_per_s=section.rate,
        think_time=section.think_time.distribution() if section.think_time else None,
    )
    match section:
        case TpccSection():
            mix = section.mix.model_dump() if section.mix else None
            return replace(arrival, warehouses=section.warehouses, mix=mix)
        case SysbenchSection():
            return replace(
                arrival,
                tables=section.tables,
                table_rows=section.table_rows,
                rand_type=section.rand_type,
            )
        case EtcdSection():
            return replace(
                arrival,
                keys=section.keys,
                key_bytes=section.key_size,
                value_bytes=section.value,
                connections=section.connections,
                timeout_ns=section.timeout,
            )
        case CustomSection():
            return replace(
                arrival,
                custom_tables=tuple(
                    TableSpec(name=name, rows=table.rows, row_bytes=table.row_bytes)
                    for name, table in section.tables.items()
                ),
                transactions=tuple(
                    transaction.spec(name) for name, transaction in section.transactions.items()
                ),
            )
