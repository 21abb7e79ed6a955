"""From ``cluster`` and ``region`` lines to a scenario with constant costs, and its regions.

Whatever a request, a message or a write costs is a constant, so a script can say to the microsecond
what happens. Keys of TiKV's configuration are those of a scenario file, checked by the same schema.

    network 100 us a way · request 100 us of CPU · store poller 10 us a message
    append + fsync 1 ms · apply 20 us a command

Source of ``ticks=fast``: tikv/tikv components/test_raftstore/src/util.rs (new_tikv_config).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Final

from sim.distributions import Constant
from sim.hardware import DiskSpec, NetworkSpec
from sim.laboratory.grammar import ScriptProblem
from sim.laboratory.values import show_key
from sim.protocol.region import Region, RegionEpoch, RegionId, RegionMap, Route, StoreId
from sim.scenario import Scenario
from sim.scenario.problems import Mark, Problem
from sim.scenario.resolve import resolved
from sim.scenario.tree import node_of, normalised
from sim.units import GIB, NS_PER_MS, NS_PER_US

FSYNC_NS: Final = NS_PER_MS
ONE_WAY_NS: Final = 100 * NS_PER_US

FAST_TICKS: Final = {
    "raftstore.raft-base-tick-interval": "10ms",
    "raftstore.raft-heartbeat-ticks": "2",
    "raftstore.raft-election-timeout-ticks": "25",
    "raftstore.raft-store-max-leader-lease": "240ms",
    "raftstore.merge-check-tick-interval": "100ms",
    "raftstore.hibernate-regions": "false",
}
"""``ticks=fast``: what TiKV's own integration tests run with; no region sleeps, so a lost leader is
missed after an election timeout."""

_SIZES: Final = ("-size-limit", "-max-size", "-split-size", "-write-threshold")
"""How keys end whose values are sizes."""

_CONSTANT_CPU: Final = {
    "client_statement_ns": 0,
    "tidb_statement_ns": 0,
    "tidb_write_ns": 0,
    "tidb_row_ns": 0,
    "tidb_request_ns": 0,
    "grpc_message_ns": 0,
    "grpc_request_ns": 0,
    "tikv_read_ns": 100 * NS_PER_US,
    "tikv_command_ns": 100 * NS_PER_US,
    "tikv_key_ns": 0,
    "tikv_load_lock_ns": 0,
    "tikv_record_ns": 0,
    "tikv_finish_ns": 0,
    "tikv_row_ns": 0,
    "tikv_block_ns": 0,
    "store_visit_ns": 0,
    "store_message_ns": 10 * NS_PER_US,
    "log_byte_ns": 0.0,
    "raftdb_record_ns": 0,
    "apply_command_ns": 20 * NS_PER_US,
    "apply_record_ns": 0,
    "kvdb_record_ns": 0,
    "compaction_byte_ns": 0.0,
    "thread_hop_ns": 0,
    "thread_run_ns": 0,
    "cv": 0.0,
}
_DISK: Final = DiskSpec("constant", GIB, 1_000_000, Constant(FSYNC_NS))
_MACHINES: Final = {
    "raft_disk": _DISK, "kv_disk": _DISK,
    "network": NetworkSpec(Constant(2 * ONE_WAY_NS), None, 1000 * GIB),
    "store_cores": 1_000, "threads_per_core": 1, "tidb_cores": 1_000,
}  # fmt: skip
_WORKLOAD: Final = {
    "kind": "custom", "threads": 1, "tables": {"t": {"rows": 1, "row_bytes": "10B"}},
    "transactions": {"t": {"weight": 1, "statements": [{"lock": "t", "rows": 1}]}},
}  # fmt: skip
"""The laboratory has no clients of its own; a scenario cannot do without a workload."""


@dataclass
class ClusterSetup:
    """How a script describes its cluster."""

    stores: int = 3
    replicas: int = 0
    """0: as many as there are stores."""
    split: tuple[bytes, ...] = ()
    leaders: tuple[int, ...] = ()
    versions: tuple[str, ...] = ()
    tikv: dict[str, Any] = field(default_factory=dict)
    """Keys of section ``tikv``, as a scenario file says them."""
    regions: list[Route] = field(default_factory=list)


def scenario_of(setup: ClusterSetup) -> Scenario:
    """Returns the scenario of a script's cluster.

    Raises:
        ScriptProblem: with the first problem the schema finds.
    """
    replicas = setup.replicas or setup.stores
    cluster: dict[str, Any] = {"stores": setup.stores, "replicas": replicas, "tidb_nodes": 1}
    if setup.versions:
        one = len(setup.versions) == 1
        cluster["store_versions"] = setup.versions[0] if one else list(setup.versions)
    tree = {
        "run": {"seed": 1, "warmup": "0ms", "measure": "1s"},
        "cluster": cluster,
        "hardware": {"profile": "i3.4xlarge"},
        "tikv": {"behaviour": "v8.5", **setup.tikv},
        "workload": _WORKLOAD,
    }
    problems: list[Problem] = []
    scenario = resolved(normalised(node_of(tree, Mark("cluster"))), "", problems)
    if scenario is None or problems:
        raise ScriptProblem(_first(problems))
    hardware = scenario.hardware
    cpu = replace(hardware.cpu, **_CONSTANT_CPU)  # type: ignore[arg-type]
    return replace(scenario, hardware=replace(hardware, cpu=cpu, **_MACHINES))  # type: ignore[arg-type]


def _first(problems: list[Problem]) -> str:
    problem = problems[0]
    key = problem.path.removeprefix("tikv.").removeprefix("cluster.")
    return f"{key}: {problem.message}"


def region_map(setup: ClusterSetup) -> RegionMap:
    """Returns the regions of a script's cluster, checked.

    Raises:
        ScriptProblem: if they leave a gap, overlap, or lie on stores that there are not.
    """
    routes = sorted(setup.regions, key=lambda route: route.region.start_key)
    if not routes:
        routes = _cut(setup)
    for region, leader in routes:
        _check_stores(region, leader, setup.stores)
    _check_cover([region for region, _ in routes])
    return RegionMap(routes)


def make_route(
    setup: ClusterSetup,
    region_id: int,
    bounds: tuple[bytes, bytes],
    *,
    leader: int,
    stores: tuple[int, ...],
    epoch: tuple[int, int] = (1, 1),
) -> Route:
    """Returns a region; without ``stores`` it lies on its leader and the stores that follow."""
    count = setup.replicas or setup.stores
    placed = stores or tuple(sorted((leader - 1 + n) % setup.stores + 1 for n in range(count)))
    names = tuple(StoreId(store) for store in placed)
    return Route(Region(RegionId(region_id), *bounds, names, RegionEpoch(*epoch)), leader)


def _cut(setup: ClusterSetup) -> list[Route]:
    bounds = [b"", *sorted(setup.split), b""]
    leaders = setup.leaders or (1,)
    if len(leaders) > len(bounds) - 1:
        raise ScriptProblem(
            f"{len(leaders)} leaders for {len(bounds) - 1} regions; write one for each region"
        )
    leaders += leaders[-1:] * (len(bounds) - 1 - len(leaders))
    return [
        make_route(setup, number, pair, leader=leader, stores=())
        for number, (pair, leader) in enumerate(zip(pairwise(bounds), leaders, strict=True), 1)
    ]


def _check_stores(region: Region, leader: int, stores: int) -> None:
    for store in (*region.stores, leader):
        if not 1 <= store <= stores:
            raise ScriptProblem(
                f"region {region.region_id} lies on store {store}, but there are stores 1 to "
                f"{stores}; write cluster stores={max(store, 1)}, or another store"
            )
    if leader not in region.stores:
        raise ScriptProblem(
            f"region {region.region_id} has no replica on its leader, store {leader}; add it to "
            "stores="
        )


def _check_cover(regions: list[Region]) -> None:
    ids = [region.region_id for region in regions]
    if len(set(ids)) < len(ids):
        raise ScriptProblem("two regions have the same id; give each its own")
    if regions[0].start_key:
        key = show_key(regions[0].start_key)
        raise ScriptProblem(f"no region holds the keys before {key}; let one begin at -inf")
    for left, right in pairwise(regions):
        if left.end_key != right.start_key:
            raise ScriptProblem(
                f"between {left} and {right} is a gap or an overlap; let one end where the next "
                "begins"
            )
    if regions[-1].end_key:
        key = show_key(regions[-1].end_key)
        raise ScriptProblem(f"no region holds the keys from {key} on; let one end at +inf")


def tikv_keys(options: Mapping[str, str]) -> dict[str, Any]:
    """Returns options that are TiKV's keys as a scenario file would say them.

    A number alone is a size in bytes where a key ends as sizes do.
    """
    return {key: _plain(key, value) for key, value in options.items()}


def _plain(key: str, value: str) -> object:
    if value in {"true", "false"}:
        return value == "true"
    if value.isdecimal() and key.endswith(_SIZES):
        return f"{value}B"
    return int(value) if value.isdecimal() else value
