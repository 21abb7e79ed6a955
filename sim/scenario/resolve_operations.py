"""Section ``operations`` resolved: each entry by its kind, and against the cluster it is for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from sim.scenario.problems import Problem, shown, suggestion
from sim.scenario.schema.etcd import EtcdSection
from sim.scenario.schema.operations import OPERATIONS, Operation, Partition
from sim.scenario.schema.run import Topology
from sim.scenario.schema.workload import AnyWorkload, CustomSection, SysbenchSection, TpccSection
from sim.scenario.section import keys_of, validated
from sim.scenario.targets import RegionTarget, StoreTarget
from sim.scenario.tree import Node, dotted

_TPCC_TABLES: Final = (
    "warehouse", "district", "customer", "history", "new_order", "orders", "order_line", "stock",
    "item",
)  # fmt: skip

_OF_ETCD: Final = ("transfer_leader", "crash_store", "restart_store", "partition", "slow_disk")
"""Operations that an etcd cluster has as well."""

_MANY: Final = 1_000_000


def resolved_operations(
    tree: Node,
    cluster: Topology | None,
    workload: AnyWorkload | None,
    problems: list[Problem],
) -> tuple[Operation, ...]:
    """Returns the operations of a scenario, in the order of the file.

    Args:
        tree: of the whole scenario.
        cluster: None if something is wrong with it; then nothing is compared with it.
        workload: whose tables may be named; None as for ``cluster``.
        problems: what is wrong is added here.
    """
    node = tree.entries.get("operations")
    if node is None or node.value is None:
        return ()
    if not isinstance(node.value, dict):
        message = f"must be a list, is {shown(node.value)}; write [{{at: 10s, do: ...}}]"
        problems.append(Problem(node.mark, "operations", message))
        return ()
    stores = _MANY if cluster is None else cluster.stores
    tables = None if workload is None else _tables_of(workload)
    operations = []
    for name, entry in node.value.items():
        operation = None if entry.value is None else _one(tree, name, entry, problems)
        if operation is not None:
            problems += _out_of_place(operation, name, entry, stores, tables)
            if isinstance(workload, EtcdSection) and operation.do not in _OF_ETCD:
                message = f"etcd has no {operation.do}; write one of {', '.join(_OF_ETCD)}"
                place = dotted(("operations", name, "do"))
                problems.append(Problem(entry.entries["do"].mark, place, message))
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


def _one(tree: Node, name: str, entry: Node, problems: list[Problem]) -> Operation | None:
    path = ("operations", name)
    if not isinstance(entry.value, dict):
        message = f"must be a mapping, is {shown(entry.value)}; write {{at: 10s, do: ...}}"
        problems.append(Problem(entry.mark, dotted(path), message))
        return None
    do = entry.entries.get("do")
    word = do.value if do is not None else None
    if not isinstance(word, str) or word not in OPERATIONS:
        what = "missing" if word is None else f"nothing is called {shown(word)}"
        message = f"{what}; {suggestion(str(word or ''), list(OPERATIONS))}"
        problems.append(Problem((do or entry).mark, dotted((*path, "do")), message))
        return None
    section = validated(tree, path, OPERATIONS[word], problems)
    return None if section is None else replace(section, name=name)


def _out_of_place(
    operation: Operation, name: str, entry: Node, stores: int, tables: Sequence[str] | None
) -> Iterator[Problem]:
    """Yields what the cluster and the workload do not have."""
    for word, key in keys_of(type(operation)).items():
        message = _missing(getattr(operation, key.field), stores, tables)
        if message:
            node = entry.entries.get(word, entry)
            yield Problem(node.mark, dotted(("operations", name, word)), message)
    if isinstance(operation, Partition):
        for node_name in [node for group in operation.groups or () for node in group]:
            kind, _, number = node_name.partition("-")
            if kind == "store" and not 1 <= int(number) <= stores:
                message = f"there is no {node_name}; write 1 to {stores}"
                yield Problem(entry.mark, dotted(("operations", name, "groups")), message)


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
