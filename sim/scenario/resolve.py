"""From a tree to a resolved scenario: sections validated, defaults that depend on others filled in.

Contradictions between sections are found here; those inside one section are the schema's.

Section ``operations`` resolved: each entry by its kind, and against the cluster it is for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from sim.scenario.problems import Problem, shown, suggestion
from sim.scenario.profiles import expanded
from sim.scenario.resolved import Scenario
from sim.scenario.schema.etcd import EtcdSection
from sim.scenario.schema.hardware import Hardware
from sim.scenario.schema.operations import OPERATIONS, Operation, Partition, SetConfig
from sim.scenario.schema.run import Run, Topology
from sim.scenario.schema.tikv import DEFAULTS, Tikv, instance_limit_bytes, scheduler_workers
from sim.scenario.schema.workload import (
    SECTIONS,
    AnyWorkload,
    CustomSection,
    SysbenchSection,
    TpccSection,
)
from sim.scenario.section import Section, keys_of, validated
from sim.scenario.targets import RegionTarget, StoreTarget
from sim.scenario.tree import Node, Place

_TPCC_TABLES: Final = (
    "warehouse", "district", "customer", "history", "new_order", "orders", "order_line", "stock",
    "item",
)  # fmt: skip

_OF_ETCD: Final = ("transfer_leader", "crash_store", "restart_store", "partition", "slow_disk")
"""Operations that an etcd cluster has as well."""

_MANY: Final = 1_000_000


def resolved_operations(
    place: Place, cluster: Topology | None, workload: AnyWorkload | None
) -> tuple[Operation, ...]:
    """Returns the operations of a scenario, in the order of the file.

    Args:
        place: of the section.
        cluster: None if something is wrong with it; then nothing is compared with it.
        workload: whose tables may be named; None as for ``cluster``.
    """
    if place.value is None:
        return ()
    if not isinstance(place.value, dict) or not isinstance(place["do"].value, dict | None):
        what = "one operation" if isinstance(place.value, dict) else shown(place.value)
        place.refuse(f"must be a list, is {what}; write [{{at: 10s, do: ...}}]")
        return ()
    stores = _MANY if cluster is None else cluster.stores
    tidb_nodes = _MANY if cluster is None else cluster.tidb_nodes
    tables = None if workload is None else _tables_of(workload)
    operations = []
    for entry in place.below().values():
        operation = None if entry.value is None else _one(entry, place)
        if operation is not None:
            _check_targets(operation, entry, stores, tables)
            _check_nodes(operation, entry, stores, tidb_nodes)
            if isinstance(workload, EtcdSection) and operation.do not in _OF_ETCD:
                known = ", ".join(_OF_ETCD)
                entry["do"].refuse(f"etcd has no {operation.do}; write one of {known}")
            operations.append(operation)
    return tuple(operations)


def _tables_of(workload: AnyWorkload) -> list[str]:
    """Returns the names of a workload's tables."""
    match workload:
        case TpccSection():
            return list(_TPCC_TABLES)
        case SysbenchSection():
            return [f"sbtest{number}" for number in range(1, workload.tables + 1)]
        case CustomSection():
            return list(workload.custom_tables)
        case EtcdSection():
            return []


def _one(entry: Place, among: Place) -> Operation | None:
    if not isinstance(entry.value, dict):
        entry.refuse(f"must be a mapping, is {shown(entry.value)}; write {{at: 10s, do: ...}}")
        return None
    do = entry["do"]
    if do.value is None and _is_only_overridden(entry, among):
        entry.refuse(_no_such(str(entry.path[-1]), among))
        return None
    if not isinstance(do.value, str) or do.value not in OPERATIONS:
        what = "missing" if do.value is None else f"nothing is called {shown(do.node.plain())}"
        do.refuse(f"{what}; {suggestion(str(do.value or ''), list(OPERATIONS))}")
        return None
    section = validated(OPERATIONS[do.value], entry)
    return None if section is None else replace(section, name=str(entry.path[-1]))


def _is_only_overridden(entry: Place, among: Place) -> bool:
    """Returns whether no list has the entry: it stands where a value of it does.

    All of a dictionary stands at one place; a list in it has numbers for names.
    """
    numbered = among.node.mark == entry.node.mark and str(entry.path[-1]).isdecimal()
    alone = all(child.mark == entry.node.mark for child in entry.node.entries.values())
    return alone and not numbered and "name" not in entry.node.entries


def _no_such(name: str, among: Place) -> str:
    """Returns what is said of a key of an operation that nobody has described."""
    others = [key for key, each in among.node.entries.items() if each.find(("do",)) is not None]
    if others:
        return f"no operation is called {name}; {suggestion(name, others)}"
    return f"no operation is called {name}; write operations: [{{name: {name}, at: 10s, do: ...}}]"


def _check_targets(
    operation: Operation, entry: Place, stores: int, tables: Sequence[str] | None
) -> None:
    """Refuses what the cluster and the workload do not have."""
    for word, key in keys_of(type(operation)).items():
        message = _missing(getattr(operation, key.field), stores, tables)
        if message:
            entry[word].refuse(message)


def _check_nodes(operation: Operation, entry: Place, stores: int, tidb_nodes: int) -> None:
    """Refuses nodes of a partition that the cluster does not have."""
    if not isinstance(operation, Partition):
        return
    for node_name in [node for group in operation.groups or () for node in group]:
        kind, _, number = node_name.partition("-")
        if kind == "store" and not 1 <= int(number) <= stores:
            entry["groups"].refuse(f"there is no {node_name}; write 1 to {stores}")
        if kind == "tidb" and int(number) >= tidb_nodes:
            last = f"tidb-{tidb_nodes - 1}"
            known = last if tidb_nodes == 1 else f"tidb-0 to {last}"
            entry["groups"].refuse(f"there is no {node_name}; write {known}")


def _missing(target: object, stores: int, tables: Sequence[str] | None) -> str:
    match target:
        case StoreTarget(by="id", store=store) if store > stores:
            return f"there is no store {store}; write 1 to {stores}"
        case StoreTarget(region=RegionTarget() as region):
            return _missing(region, stores, tables)
        case RegionTarget(by="table", table=table) if tables is not None and table not in tables:
            return f"there is no table {shown(table)}; {suggestion(table, tables)}"
        case _:
            return ""


_S = TypeVar("_S", bound=Section)


def resolved(tree: Node, about: str, problems: list[Problem]) -> Scenario | None:
    """Returns the scenario a tree describes, or None after adding its problems.

    Args:
        tree: the sections of one unit; what else it has is not looked at.
        about: the question.
        problems: what is wrong is added here.
    """
    root = expanded(Place(tree, (), problems))
    run = validated(Run, root["run"])
    cluster = validated(Topology, root["cluster"])
    hardware = validated(Hardware, root["hardware"])
    tikv = validated(Tikv, root["tikv"])
    workload = _workload(root["workload"])
    operations = resolved_operations(root["operations"], cluster, workload)
    if cluster is not None and hardware is not None:
        _check_zones(root, cluster, hardware)
        _check_etcd(root, cluster, hardware, workload)
    if cluster is not None and workload is not None:
        _check_rows(root, cluster, workload)
    if not (run and cluster and hardware and tikv and workload):
        return None
    return Scenario(
        about=about,
        run=run,
        cluster=_cluster(cluster, tikv),
        hardware=hardware,
        tikv=resolved_tikv(tikv, hardware, operations),
        workload=workload.resolved(),
        operations=operations,
    )


def _workload(place: Place) -> AnyWorkload | None:
    """Returns the workload section of its kind."""
    if place.value is None:
        place.refuse_key("missing; write workload: {kind: tpcc, warehouses: 5000, threads: 50}")
        return None
    kind = place["kind"]
    known = isinstance(kind.value, str) and kind.value in SECTIONS
    if isinstance(place.value, dict) and not known:
        what = "missing" if kind.value is None else f"no kind {shown(kind.node.plain())}"
        kind.refuse(f"{what}; {suggestion(str(kind.value or ''), list(SECTIONS))}")
        return None
    return validated(SECTIONS.get(str(kind.value), TpccSection), place)


def _check_zones(root: Place, cluster: Topology, hardware: Hardware) -> None:
    if cluster.zones > 1 and hardware.network.cross_zone is None:
        root["cluster"]["zones"].refuse(
            f"{cluster.zones} zones, but the network has no latency between zones; "
            "write hardware.network: cross_zone, or one zone"
        )


def _check_rows(root: Place, cluster: Topology, workload: AnyWorkload) -> None:
    """Finds regions that no row is left for."""
    match workload:
        case CustomSection():
            rows = sum(table.rows for table in workload.custom_tables.values())
        case SysbenchSection():  # each row is in the index on k as well
            rows = 2 * workload.tables * workload.table_rows
        case _:
            return
    if cluster.regions is not None and cluster.regions > rows:
        root["cluster"]["regions"].refuse(
            f"{cluster.regions} regions need as many rows, all tables together have {rows}; write "
            f"{rows} or less"
        )


def _check_etcd(
    root: Place, cluster: Topology, hardware: Hardware, workload: AnyWorkload | None
) -> None:
    """Finds what goes with etcd only, and what does not go with it."""
    if workload is None:
        return
    if not isinstance(workload, EtcdSection):
        if hardware.shared:
            message = f"stores of {workload.kind} have a machine each; write false, or kind: etcd"
            root["hardware"]["shared"].refuse(message)
        return
    if cluster.regions is not None:
        root["cluster"]["regions"].refuse("etcd has one Raft group; remove it")
    if cluster.replicas != cluster.stores:
        message = f"every member of etcd has a replica; write {cluster.stores}"
        root["cluster"]["replicas"].refuse(message)


def _cluster(cluster: Topology, tikv: Tikv) -> Topology:
    """Returns the cluster with the defaults of TiKV's version."""
    defaults = DEFAULTS[tikv.behaviour]
    given: Any = cluster.store_versions or str(defaults["version"])
    versions = (given,) * cluster.stores if isinstance(given, str) else given
    return replace(cluster, store_versions=versions, tidb=_filled(cluster.tidb, defaults))


def resolved_tikv(tikv: Tikv, hardware: Hardware, operations: Sequence[Operation] = ()) -> Tikv:
    """Returns the section with every default filled in, also those that hardware decides.

    In-memory locks that ``pipelined`` hides count as off, unless an operation changes it.
    """
    changed = [each.key for each in operations if isinstance(each, SetConfig)]
    hidden = not tikv.pipelined and "pessimistic-txn.pipelined" not in changed
    defaults = DEFAULTS[tikv.behaviour] | {
        "in_memory_instance_size_limit_bytes": instance_limit_bytes(
            tikv.behaviour, hardware.store_memory_bytes
        ),
        "scheduler_worker_pool_size": scheduler_workers(hardware.store_cores),
    }
    return _filled(replace(tikv, in_memory=tikv.in_memory and not hidden), defaults)


def _filled(section: _S, defaults: Mapping[str, Any]) -> _S:
    """Returns a section whose open keys, None so far, have their defaults."""
    open_keys = [name for name in defaults if getattr(section, name, 0) is None]
    return replace(section, **{name: defaults[name] for name in open_keys})
