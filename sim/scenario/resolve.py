"""From a tree to a resolved scenario: sections validated, defaults that depend on others filled in.

Contradictions between sections are found here; those inside one section are the schema's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

from sim.scenario.fields import ByVersion
from sim.scenario.problems import Problem, shown, suggestion
from sim.scenario.profiles import expanded
from sim.scenario.resolve_operations import resolved_operations
from sim.scenario.resolved import Scenario
from sim.scenario.schema.etcd import EtcdSection
from sim.scenario.schema.hardware import Hardware
from sim.scenario.schema.operations import Operation, SetConfig
from sim.scenario.schema.run import Run, Tidb, Topology
from sim.scenario.schema.tikv import (
    Tikv,
    instance_limit_bytes,
    scheduler_workers,
    unified_readers,
)
from sim.scenario.schema.workload import SECTIONS, AnyWorkload, TpccSection
from sim.scenario.section import Section, keys_of, validated
from sim.scenario.tree import Node, Place
from sim.scenario.versions import Version

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
    given: Any = cluster.store_versions or ".".join(map(str, tikv.version))
    versions = (given,) * cluster.stores if isinstance(given, str) else given
    tidb = _filled(cluster.tidb, _defaults_in(tikv.version, Tidb))
    return replace(cluster, store_versions=versions, tidb=tidb)


def resolved_tikv(tikv: Tikv, hardware: Hardware, operations: Sequence[Operation]) -> Tikv:
    """Returns the section with every default filled in, also those that hardware decides.

    In-memory locks that ``pipelined`` hides count as off, unless an operation changes it.
    """
    changed = [each.key for each in operations if isinstance(each, SetConfig)]
    hidden = not tikv.pipelined and "pessimistic-txn.pipelined" not in changed
    defaults = _defaults_in(tikv.version, Tikv) | {
        "in_memory_instance_size_limit_bytes": instance_limit_bytes(
            tikv.behaviour, hardware.store_memory_bytes
        ),
        "scheduler_worker_pool_size": scheduler_workers(hardware.store_cores),
        "readpool_unified_max_thread_count": unified_readers(hardware.store_cores),
    }
    filled = _filled(tikv, defaults)
    return replace(filled, in_memory=filled.in_memory and not hidden)


@cache
def _defaults_in(version: Version, section: type[Section]) -> dict[str, Any]:
    """Returns by field the defaults that changed, as they are in a version."""
    return {
        key.field: key.default_in(version)
        for key in keys_of(section).values()
        if isinstance(key.default, ByVersion)
    }


def _filled(section: _S, defaults: Mapping[str, Any]) -> _S:
    """Returns a section whose open keys, None so far, have their defaults."""
    open_keys = [name for name in defaults if getattr(section, name, 0) is None]
    return replace(section, **{name: defaults[name] for name in open_keys})
