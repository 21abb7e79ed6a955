"""From a tree to a resolved scenario: sections validated, defaults that depend on others filled in.

Contradictions between sections are found here; those inside one section are the schema's.
"""

from __future__ import annotations

from collections.abc import Sequence

from sim.hardware.disk import DiskSpec
from sim.hardware.network import NetworkSpec
from sim.scenario.counterparts import resolved_as
from sim.scenario.problems import Problem, shown, suggestion
from sim.scenario.profiles import expanded
from sim.scenario.resolve_operations import resolved_operations
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
from sim.scenario.resolved_operations import Operation, SetConfig
from sim.scenario.resolved_tikv import Tikv
from sim.scenario.schema.etcd import EtcdSection
from sim.scenario.schema.hardware import DiskSection, HardwareSection
from sim.scenario.schema.run import ClusterSection, RunSection
from sim.scenario.schema.tikv import DEFAULTS, TikvSection, instance_limit_bytes, scheduler_workers
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
        run=resolved_as(Run, run),
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
        message = "missing; write workload: {kind: tpcc, warehouses: 5000, threads: 50}"
        problems.append(Problem(tree.key_mark, "workload", message))
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


def _cluster(section: ClusterSection, tikv: TikvSection) -> Cluster:
    defaults = DEFAULTS[tikv.behaviour]
    tidb = section.tidb
    fair = tidb.tidb_pessimistic_txn_fair_locking
    return resolved_as(
        Cluster,
        section,
        store_versions=section.versions(str(defaults["version"])),
        tidb=Tidb(
            async_commit=tidb.tidb_enable_async_commit,
            one_pc=tidb.tidb_enable_1pc,
            guarantee_linearizability=tidb.tidb_guarantee_linearizability,
            innodb_lock_wait_timeout_ns=tidb.innodb_lock_wait_timeout,
            fair_locking=defaults["fair_locking"] if fair is None else fair,
            max_retry_count=tidb.max_retry_count,
        ),
    )


def _hardware(section: HardwareSection) -> Hardware:
    disk = section.disk
    return resolved_as(
        Hardware,
        section,
        raft_disk=_disk(disk.raft),
        kv_disk=None if disk.kv is None else _disk(disk.kv),
        network=resolved_as(NetworkSpec, section.network),
        cpu=resolved_as(CpuCosts, section.cpu),
        lsm=resolved_as(LsmSpec, section.lsm),
        etcd=resolved_as(EtcdCosts, section.etcd),
    )


def _disk(section: DiskSection) -> DiskSpec:
    return resolved_as(
        DiskSpec,
        section,
        write_bytes_per_s=section.write_bandwidth,
        io_bytes=section.largest_io,
        longer=tuple(each.longer() for each in section.longer),
        crowding=section.crowding.crowding() if section.crowding else None,
        fetch_crowding=section.fetch_crowding.crowding() if section.fetch_crowding else None,
    )


def resolved_tikv(
    section: TikvSection, hardware: HardwareSection, operations: Sequence[Operation] = ()
) -> Tikv:
    """Returns the section with every default filled in, also those that hardware decides.

    In-memory locks that ``pipelined`` hides count as off, unless an operation changes it.
    """
    changed = [each.key for each in operations if isinstance(each, SetConfig)]
    hidden = not section.pipelined and "pessimistic-txn.pipelined" not in changed
    defaults = {
        name: default
        for name, default in DEFAULTS[section.behaviour].items()
        if getattr(section, name, "") is None
    }
    instance_limit = section.in_memory_instance_size_limit
    if instance_limit is None:
        instance_limit = instance_limit_bytes(section.behaviour, hardware.store_memory)
    return resolved_as(
        Tikv,
        section.model_copy(update=defaults),
        in_memory=section.in_memory and not hidden,
        in_memory_instance_size_limit_bytes=instance_limit,
        wake_up_delay_ns=section.wake_up_delay_duration,
        scheduler_worker_pool_size=section.scheduler_worker_pool_size
        or scheduler_workers(hardware.store_cores),
        ablations=tuple(section.ablations),
    )


def _resolved_workload(section: AnyWorkload) -> Workload:
    match section:
        case TpccSection(mix=mix):
            return resolved_as(Workload, section, mix=mix.model_dump() if mix else None)
        case SysbenchSection():
            return resolved_as(Workload, section)
        case EtcdSection():
            return resolved_as(Workload, section, key_bytes=section.key_size)
        case CustomSection():
            return resolved_as(
                Workload,
                section,
                tables=0,
                custom_tables=tuple(
                    resolved_as(TableSpec, table, name=name)
                    for name, table in section.tables.items()
                ),
                transactions=tuple(each.spec(name) for name, each in section.transactions.items()),
            )
