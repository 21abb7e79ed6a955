"""From a resolved scenario back to what a file would say: complete, with units, to be run again.

Law: reading the document of a scenario gives that scenario.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sim.hardware.crowding import Crowding
from sim.hardware.disk import DiskSpec
from sim.scenario.counterparts import Document, section_document, shape_of
from sim.scenario.figures import limit_text
from sim.scenario.profiles import SHARED
from sim.scenario.quantities import BANDWIDTH, DURATION, PERCENT, RATE, SIZE
from sim.scenario.resolved import (
    ETCD,
    Cluster,
    Expectation,
    Scenario,
    StatementSpec,
    TransactionSpec,
    Workload,
)
from sim.scenario.resolved_operations import Operation, SetConfig
from sim.scenario.resolved_study import Capacity, Precision, Sensitivity
from sim.scenario.resolved_tikv import Tikv
from sim.scenario.schema.etcd import EtcdSection
from sim.scenario.schema.hardware import DiskSection, HardwareSection
from sim.scenario.schema.operations import KINDS
from sim.scenario.schema.run import ClusterSection, RunSection
from sim.scenario.schema.study import ExpectSection, PriceSection, SensitivitySection
from sim.scenario.schema.tikv import TikvSection
from sim.scenario.schema.workload import SECTIONS, CustomSection


def document_of(scenario: Scenario) -> Document:
    """Returns the sections of a file that describes this scenario alone."""
    document = {
        "about": scenario.about,
        "run": section_document(RunSection, scenario.run),
        "cluster": _cluster(scenario.cluster),
        "hardware": _hardware(scenario),
        "tikv": _tikv(scenario.tikv),
        "workload": _workload(scenario.workload),
    }
    if scenario.operations:
        document["operations"] = {each.name: _operation(each) for each in scenario.operations}
    return document


def _tikv(tikv: Tikv) -> Document:
    delay = DURATION.text_of(tikv.wake_up_delay_ns)
    return section_document(TikvSection, tikv) | {"pessimistic-txn.wake-up-delay-duration": delay}


def _operation(operation: Operation) -> Document:
    document = section_document(KINDS[operation.do], operation)
    del document["name"]
    if isinstance(operation, SetConfig) and not isinstance(operation.value, bool):
        document["value"] = SIZE.text_of(operation.value)
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


def _cluster(cluster: Cluster) -> Document:
    tidb = cluster.tidb
    return section_document(ClusterSection, cluster) | {
        "store_versions": _versions(cluster.store_versions),
        "tidb": {
            "tidb_enable_async_commit": tidb.async_commit,
            "tidb_enable_1pc": tidb.one_pc,
            "tidb_guarantee_linearizability": tidb.guarantee_linearizability,
            "innodb_lock_wait_timeout": DURATION.text_of(tidb.innodb_lock_wait_timeout_ns),
            "tidb_pessimistic_txn_fair_locking": tidb.fair_locking,
            "pessimistic-txn.max-retry-count": tidb.max_retry_count,
        },
    }


def _versions(versions: Sequence[str]) -> str | list[str]:
    """Returns one version for all stores where they agree, however many there will be."""
    return versions[0] if len(set(versions)) == 1 else list(versions)


def _hardware(scenario: Scenario) -> Document:
    hardware = scenario.hardware
    raft = _disk(hardware.raft_disk)
    kv = SHARED if hardware.kv_disk is None else _disk(hardware.kv_disk)
    document = section_document(HardwareSection, hardware)
    document = {"profile": hardware.profile, "disk": {"raft": raft, "kv": kv}} | document
    if scenario.workload.kind != ETCD:
        del document["shared"], document["etcd"]
    return document


def _disk(disk: DiskSpec) -> Document:
    document = {
        "name": disk.name,
        "write_bandwidth": BANDWIDTH.text_of(disk.write_bytes_per_s),
        **section_document(DiskSection, disk),
        "largest_io": SIZE.text_of(disk.io_bytes),
        "longer": [
            {"size": SIZE.text_of(each.size_bytes), "latency": shape_of(each.latency)}
            for each in disk.longer
        ],
        "crowding": _crowding(disk.crowding),
        "fetch_crowding": _crowding(disk.fetch_crowding),
    }
    # What a disk without measurements would say is left out.
    return {key: value for key, value in document.items() if value not in (None, [])}


def _crowding(crowding: Crowding | None) -> Document | None:
    if crowding is None:
        return None
    levels = [
        {"in_flight": each.in_flight, "latency": shape_of(each.latency)} for each in crowding.crowds
    ]
    further = {} if crowding.further is None else {"further": shape_of(crowding.further)}
    return {"levels": levels} | further


def _workload(workload: Workload) -> Document:
    model = SECTIONS[workload.kind]
    document = section_document(model, workload)
    if model is EtcdSection:
        document["key_size"] = SIZE.text_of(workload.key_bytes)
    if model is CustomSection:
        document |= _custom(workload)
    return document


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
        document["pause"] = DURATION.text_of(spec.pause_ns)
    return document


def precision_document(precision: Precision) -> Document:
    """Returns keys of the section ``run``."""
    targets = {str(key): PERCENT.text_of(share) for key, share in precision.targets}
    return {"precision": targets, "max_replications": precision.most_replications}


def capacity_document(capacity: Capacity) -> Document:
    """Returns the section ``capacity``."""
    ends: list[int | str] = [
        int(load) if capacity.load == "workload.threads" else RATE.text_of(load)
        for load in (capacity.low, capacity.high)
    ]
    document: Document = {
        "slo": {str(part.key): limit_text(part.key, part.limit) for part in capacity.slo},
        "load": capacity.load,
        "between": ends,
        "tolerance": PERCENT.text_of(capacity.tolerance),
    }
    prices = {
        profile: section_document(PriceSection, price) for profile, price in capacity.prices.items()
    }
    return document | ({"prices": prices} if prices else {})


def sensitivity_document(sensitivity: Sensitivity) -> Document:
    """Returns the section ``sensitivity``."""
    return section_document(SensitivitySection, sensitivity) | {
        "factors": {
            factor.key: {"between": [factor.low, factor.high], "scale": factor.scale}
            for factor in sensitivity.factors
        },
        "outcomes": [str(outcome) for outcome in sensitivity.outcomes],
    }


def claim_document(claim: Expectation) -> Document:
    """Returns one entry of the section ``expect``."""
    document = section_document(ExpectSection, claim)
    return document | ({"at": dict(claim.at_point)} if claim.at_point else {})
