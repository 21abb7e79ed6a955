"""Section ``operations`` resolved: each entry by its kind, and against the cluster it is for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from sim.scenario.problems import shown, suggestion
from sim.scenario.schema.etcd import EtcdSection
from sim.scenario.schema.operations import OPERATIONS, Operation, Partition
from sim.scenario.schema.run import Topology
from sim.scenario.schema.workload import AnyWorkload, CustomSection, SysbenchSection, TpccSection
from sim.scenario.section import keys_of, validated
from sim.scenario.targets import RegionTarget, StoreTarget
from sim.scenario.tree import Place

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
        do.refuse(_no_operation(do, entry.value))
        return None
    section = validated(OPERATIONS[do.value], entry)
    return None if section is None else replace(section, name=str(entry.path[-1]))


def _no_operation(do: Place, said: Iterable[str]) -> str:
    """Returns what is said of an entry that does not say what it does, only ``said``."""
    if do.value is not None:
        what = f"nothing is called {shown(do.node.plain())}"
        return f"{what}; {suggestion(str(do.value), list(OPERATIONS))}"
    meant = [key for key in said if key in OPERATIONS]
    if meant:
        return f"missing; write do: {meant[0]}, and what it needs beside it"
    return f"missing; {suggestion('', list(OPERATIONS))}"


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
