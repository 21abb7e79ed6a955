"""What a mean transaction of a scenario asks for: statements, requests, records, regions touched.

Law: some hundred transactions are drawn from the scenario's own workload and carried out on paper
(``dry_session``). Where the mix is known, each class counts with its true share, however often it
happened to be drawn. Everything here is the same for all lock modes; what a mode makes of a lock is
decided later.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from sim.estimate.contention import Contention, contention_of
from sim.estimate.dry_session import DryClient
from sim.protocol.encoding import lock_format
from sim.protocol.region import RegionMap, lay_out_regions
from sim.storage.block_cache import (
    CACHE_SHARE,
    PREFIX_LEN,
    Extent,
    miss_probabilities,
)
from sim.streams import Streams
from sim.workload import build_workload
from sim.workload.layout import even_start_keys, region_start_keys
from sim.workload.tpcc.workload import DEFAULT_MIX

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sim.estimate.dry_transaction import DryRequest, DryTransaction, RequestKind
    from sim.scenario import resolved
    from sim.scenario.resolved import Scenario
    from sim.workload.statement import Workload

SAMPLE: Final = 300
"""Transactions drawn. The rarest class of TPC-C is then met a dozen times."""

_SCANNED_ROW: Final = 0.1
"""As ``sim.storage.scheduler``: CPU of a scanned row, as a part of a further key's."""


@dataclass(slots=True)
class Requests:
    """Requests of one kind, per transaction."""

    count: float = 0.0
    keys: float = 0.0
    """Keys that cost CPU, summed over the requests."""
    keys_squared: float = 0.0
    blocks: float = 0.0
    """Blocks fetched from the disk, summed over the requests."""
    blocks_squared: float = 0.0
    """Of each request the expected square, summed."""


@dataclass(slots=True)
class Commands:
    """Writes of one cause, per transaction; bytes as in ``dry_transaction.Written``."""

    count: float = 0.0
    arrivals: float = 0.0
    """Times at which a store is asked: requests sent together count once a store."""
    keys: float = 0.0
    raft: float = 0.0
    wal: float = 0.0
    data_cf: float = 0.0
    tombstones: float = 0.0
    memory: float = 0.0


@dataclass(slots=True)
class Footprint:
    """One mean transaction."""

    regions: RegionMap
    statements: float = 0.0
    timestamps: float = 0.0
    pause_ns: float = 0.0
    committed: float = 0.0
    """Share of the transactions that commit."""
    requests: dict[RequestKind, Requests] = field(default_factory=dict)
    rounds: dict[tuple[RequestKind, int], float] = field(default_factory=dict)
    """How often so many requests of a kind go together and are waited for."""
    commands: dict[RequestKind, Commands] = field(default_factory=dict)
    by_region: dict[int, list[float]] = field(default_factory=dict)
    """Commands by region: [lock requests, others, transactions with any], per transaction."""
    drawn_by_region: Counter[int] = field(default_factory=Counter)
    contention: Contention = field(default_factory=Contention)
    table_of_region: dict[int, int] = field(default_factory=dict)
    """Number of the table in which a region begins."""
    memory_by_region: dict[int, float] = field(default_factory=dict)
    """Bytes of lock-table memory that a transaction's locks take, by region."""
    sample: int = 0

    @property
    def lock_requests(self) -> float:
        """Lock requests per transaction."""
        return self.requests["lock"].count if "lock" in self.requests else 0.0


def lay_out(scenario: Scenario, workload: Workload) -> RegionMap:
    """Returns the regions, as a unit begins with them."""
    cluster, tables = scenario.cluster, workload.tables()
    if cluster.regions is None:
        starts = region_start_keys(tables, scenario.tikv.region_split_size_bytes)
    else:
        starts = even_start_keys(tables, cluster.regions)
    return lay_out_regions(starts, cluster.stores, cluster.replicas)


@dataclass(frozen=True, slots=True)
class Sample:
    """Transactions drawn from a scenario's workload, carried out on paper."""

    regions: RegionMap
    transactions: Sequence[DryTransaction]
    shares: Mapping[str, float]
    """Weights of the classes, where the scenario fixes them."""
    misses: Mapping[bytes, float]
    """How likely a row is not in a store's cache, by table prefix."""
    table_of_region: dict[int, int]


def draw(scenario: Scenario, transactions: int = SAMPLE) -> Sample:
    """Draws transactions of a scenario, whose lock mode does not matter."""
    workload = build_workload(scenario.workload, Streams(scenario.run.seed, 0))
    regions = lay_out(scenario, workload)
    client = DryClient(regions, scenario.cluster.tidb, lock_format(scenario.tikv.behaviour))
    clients = scenario.workload.threads or scenario.cluster.tidb_nodes
    return Sample(
        regions,
        [client.carry_out(workload.transaction(n % clients)) for n in range(transactions)],
        _shares(scenario.workload),
        _misses(scenario, workload),
        _tables_of(regions, workload),
    )


def footprint(scenario: Scenario) -> Footprint:
    """Returns the mean transaction of a scenario."""
    return mean_of(draw(scenario))


def mean_of(sample: Sample, mix: Mapping[str, float] | None = None) -> Footprint:
    """Returns the mean transaction of a sample.

    Args:
        sample: what was drawn.
        mix: weights of the classes, if not those of the scenario.
    """
    drawn = sample.transactions
    made = Footprint(sample.regions, sample=len(drawn), table_of_region=sample.table_of_region)
    weights = _weights([each.name for each in drawn], mix or sample.shares)
    for transaction in drawn:
        _add(made, transaction, weights[transaction.name] / len(drawn), sample.misses)
    made.contention = contention_of(drawn)
    return made


def _shares(workload: resolved.Workload) -> dict[str, float]:
    """Returns the classes' weights, where a scenario fixes them."""
    if workload.kind == "tpcc":
        return {name: float(weight) for name, weight in (workload.mix or DEFAULT_MIX).items()}
    return {each.name: each.weight for each in workload.transactions}


def _weights(names: Sequence[str], shares: Mapping[str, float]) -> dict[str, float]:
    """Returns by class what one drawn transaction stands for: its true share over the drawn one."""
    counts = Counter(names)
    known = sum(shares.get(name, 0.0) for name in counts)
    if not known:
        return dict.fromkeys(counts, 1.0)
    return {
        name: shares.get(name, 0.0) / known * len(names) / count for name, count in counts.items()
    }


def _misses(scenario: Scenario, workload: Workload) -> dict[bytes, float]:
    """Returns by table prefix how likely a row is not in a store's cache."""
    stores = scenario.cluster.stores
    extents = [
        Extent(table.start_key + b"_r", table.segments[-1].size_bytes / stores, reads)
        for table in workload.tables()
        if (reads := table.scattered_reads)
    ]
    return miss_probabilities(extents, CACHE_SHARE * scenario.hardware.store_memory_bytes)


def _add(
    made: Footprint, transaction: DryTransaction, weight: float, misses: Mapping[bytes, float]
) -> None:
    made.statements += weight * transaction.statements
    made.timestamps += weight * transaction.timestamps
    made.pause_ns += weight * transaction.pause_ns
    made.committed += weight * transaction.commits
    for together in transaction.rounds:
        name = (together[0].kind, len(together))
        made.rounds[name] = made.rounds.get(name, 0.0) + weight
    for together in [*transaction.rounds, transaction.background]:
        for request in together:
            _add_request(made, request, weight, misses)
        _add_arrivals(made, together, weight)
    for region_id in {
        request.region.region_id
        for together in [*transaction.rounds, transaction.background]
        for request in together
        if request.written is not None
    }:
        made.by_region[region_id][2] += weight


def _add_arrivals(made: Footprint, together: Sequence[DryRequest], weight: float) -> None:
    if together and together[0].written is not None:
        stores = {request.region.stores[0] for request in together}
        made.commands[together[0].kind].arrivals += weight * len(stores)


def _add_request(
    made: Footprint, request: DryRequest, weight: float, misses: Mapping[bytes, float]
) -> None:
    kind = request.kind
    total = made.requests.setdefault(kind, Requests())
    keys = request.rows * _SCANNED_ROW + 1 if kind == "cop" else float(len(request.keys))
    total.count += weight
    total.keys += weight * keys
    total.keys_squared += weight * keys * keys
    if misses and (kind in ("get", "batch_get") or (kind == "lock" and not request.insert)):
        chances = [misses.get(key[:PREFIX_LEN], 0.0) for key in request.keys]
        mean = sum(chances)
        total.blocks += weight * mean
        variance = sum(chance * (1 - chance) for chance in chances)
        total.blocks_squared += weight * (variance + mean * mean)
    written = request.written
    if written is None:
        return
    region_id = request.region.region_id
    made.by_region.setdefault(region_id, [0.0, 0.0, 0.0])[kind != "lock"] += weight
    made.drawn_by_region[region_id] += 1
    if written.memory:
        before = made.memory_by_region.get(region_id, 0.0)
        made.memory_by_region[region_id] = before + weight * written.memory
    commands = made.commands.setdefault(kind, Commands())
    commands.count += weight
    commands.keys += weight * written.keys
    commands.raft += weight * written.raft
    commands.wal += weight * written.wal
    commands.data_cf += weight * written.data_cf
    commands.tombstones += weight * written.tombstones
    commands.memory += weight * written.memory


def _tables_of(regions: RegionMap, workload: Workload) -> dict[int, int]:
    starts = [table.start_key for table in workload.tables()]
    tables: dict[int, int] = {}
    number = 0
    for route in regions.routes:
        while number + 1 < len(starts) and starts[number + 1] <= route.region.start_key:
            number += 1
        tables[route.region.region_id] = number
    return tables
