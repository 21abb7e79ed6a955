"""The mean transaction of a scenario: statements, requests, records, regions, contention.

Some hundred transactions are drawn from the scenario's own workload and planned
(``transaction_plan``). Where the mix is known, each class counts with its true share, however often
it happened to be drawn. All lock modes have the same footprint.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Final

from sim.estimate.contention import Contention, OwnLocks, contention_of, own_locks_of
from sim.estimate.planned_request import PlannedRequest, RequestKind
from sim.estimate.store_shares import BUSY, EVEN, UNEVEN, StoreShare, requests_of, store_shares
from sim.estimate.transaction_plan import Planner, TransactionPlan, count_rounds
from sim.protocol.encoding import lock_format
from sim.protocol.region import RegionId, RegionMap
from sim.scenario.resolved import Scenario
from sim.storage.block_cache import PREFIX_LEN, RowMisses, misses_by_table
from sim.streams import Streams
from sim.workload import build_workload
from sim.workload.layout import lay_out
from sim.workload.statement import TransactionSource
from sim.workload.tpcc.workload import DEFAULT_MIX

SAMPLE: Final = 300
"""Transactions drawn. The rarest class of TPC-C is then met a dozen times."""


@dataclass(slots=True)
class Requests:
    """Requests of one kind, per transaction; bytes as in ``records.Records``."""

    count: float = 0.0
    arrivals: float = 0.0
    """Likewise, but what is sent together to one store counts once."""
    keys: float = 0.0
    """Keys asked for, summed over the requests."""
    sought: float = 0.0
    """Those of them whose versions are looked for, not only their locks."""
    rows: float = 0.0
    """Rows that are scanned, likewise."""
    blocks: float = 0.0
    """Blocks that are not in the block cache, likewise."""
    fetches: float = 0.0
    """Those of them that are fetched from the disk."""
    records: float = 0.0
    raft: float = 0.0
    wal: float = 0.0
    data_cf: float = 0.0
    tombstones: float = 0.0
    memory: float = 0.0
    squared_records: float = 0.0
    """Squares of the requests' numbers of records, summed over them."""
    request_bytes: float = 0.0
    """On the network, likewise, as those of the answers."""
    reply_bytes: float = 0.0

    def add(self, other: "Requests", weight: float) -> None:
        """Adds ``weight`` times other requests."""
        for name in _FIGURES:
            setattr(self, name, getattr(self, name) + weight * getattr(other, name))


_FIGURES: Final = tuple(each.name for each in fields(Requests))


@dataclass(slots=True)
class AlikeRegions:
    """Regions that are written to alike; figures are per transaction, over all of them."""

    regions: int = 0
    locks: float = 0.0
    """Lock requests."""
    others: float = 0.0
    """Other commands."""
    visits: float = 0.0
    """Transactions that write to a region."""
    lock_bytes: float = 0.0
    """Memory that locks take in a lock table."""


@dataclass(slots=True)
class Footprint:
    """One mean transaction."""

    regions: RegionMap
    statements: float = 0.0
    changing_statements: float = 0.0
    """Those of them that lock or write."""
    rows: float = 0.0
    """That its statements read, lock or write."""
    timestamps: float = 0.0
    pause_ns: float = 0.0
    committed: float = 0.0
    """Share of the transactions that commit."""
    requests: defaultdict[RequestKind, Requests] = field(
        default_factory=lambda: defaultdict(Requests)
    )
    rounds: Counter[tuple[RequestKind, int]] = field(default_factory=Counter)
    """How often so many requests of a kind go together and are waited for."""
    region_groups: Sequence[AlikeRegions] = ()
    contention: Contention = field(default_factory=Contention)
    own_locks: OwnLocks = field(default_factory=OwnLocks)
    stores: Sequence[StoreShare] = ()
    """What each store has of it."""

    @property
    def lock_requests(self) -> float:
        """Lock requests per transaction."""
        return self.requests["lock"].count if "lock" in self.requests else 0.0

    @property
    def all_requests(self) -> float:
        """Requests of all kinds per transaction."""
        return sum(each.count for each in self.requests.values())

    @property
    def fullest(self) -> StoreShare | None:
        """The share of the store that leads most of the load; None: no store has much more."""
        counts = {kind: each.count for kind, each in self.requests.items()}
        share = max(self.stores, key=lambda each: each.of(counts), default=EVEN)
        return share if max(share.of(counts)) > UNEVEN else None

    def proposed(self, lock_share: float) -> Requests:
        """Returns all commands together, with this part of the lock requests."""
        total = Requests()
        for kind, each in self.requests.items():
            if each.records:
                total.add(each, lock_share if kind == "lock" else 1.0)
        return total


@dataclass(frozen=True, slots=True)
class Sample:
    """Transactions drawn from a scenario's workload, as they were planned."""

    regions: RegionMap
    plans: Sequence[TransactionPlan]
    shares: Mapping[str, float]
    """Weights of the classes, where the scenario fixes them."""
    misses: RowMisses
    """How likely a row is not in a store's caches."""
    table_of_region: Mapping[RegionId, int]
    """Number of the table in which a region begins."""
    stores: int


def draw(scenario: Scenario, transactions: int = SAMPLE) -> Sample:
    """Draws transactions of a scenario, whose lock mode does not matter."""
    workload = build_workload(scenario.workload, Streams(scenario.run.seed, 0))
    regions = lay_out(scenario, workload.tables())
    planner = Planner(regions, scenario.cluster.tidb, lock_format(scenario.tikv.version))
    clients = scenario.workload.threads or scenario.cluster.tidb_nodes
    shares = {each.name: each.weight for each in scenario.workload.transactions}
    if scenario.workload.kind == "tpcc":
        shares = {name: float(w) for name, w in (scenario.workload.mix or DEFAULT_MIX).items()}
    return Sample(
        regions,
        [planner.plan(workload.transaction(n % clients)) for n in range(transactions)],
        shares,
        misses_by_table(scenario, workload.tables()),
        _tables_of(regions, workload),
        scenario.cluster.stores,
    )


def footprint_of(scenario: Scenario) -> Footprint:
    """Returns the mean transaction of a scenario."""
    return mean_of(draw(scenario))


def mean_of(sample: Sample, mix: Mapping[str, float] | None = None) -> Footprint:
    """Returns the mean transaction of a sample.

    Args:
        sample: what was drawn.
        mix: weights of the classes, if not those of the scenario.
    """
    plans = sample.plans
    footprint = Footprint(sample.regions)
    weights = _weights([plan.name for plan in plans], mix or sample.shares)
    written: list[tuple[float, PlannedRequest]] = []
    visits: Counter[RegionId] = Counter()
    for plan in plans:
        weight = weights[plan.name] / len(plans)
        footprint.statements += weight * plan.statements
        footprint.changing_statements += weight * plan.changing_statements
        footprint.rows += weight * plan.rows
        footprint.timestamps += weight * plan.timestamps
        footprint.pause_ns += weight * plan.pause_ns
        footprint.committed += weight * plan.commits
        count_rounds(footprint.rounds, plan.rounds, weight)
        for together in (*plan.rounds, plan.background):
            for kind, _ in {(each.kind, each.region.stores[0]) for each in together}:
                footprint.requests[kind].arrivals += weight
        requests = requests_of(plan)
        for request in requests:
            footprint.requests[request.kind].add(_demand(request, sample.misses), weight)
        commands = [request for request in requests if request.records is not None]
        written += [(weight, command) for command in commands]
        for region_id in {command.region.region_id for command in commands}:
            visits[region_id] += weight  # type: ignore[assignment]
    footprint.region_groups = _region_groups(written, visits, sample.table_of_region)
    footprint.contention = contention_of(plans)
    weighted = [(weights[plan.name] / len(plans), plan) for plan in plans]
    footprint.own_locks = own_locks_of(weighted)
    footprint.stores = store_shares(weighted, sample.regions, sample.table_of_region, sample.stores)
    return footprint


def _weights(names: Sequence[str], shares: Mapping[str, float]) -> dict[str, float]:
    """Returns by class what one drawn transaction stands for: its true share over the drawn one."""
    counts = Counter(names)
    known = sum(shares.get(name, 0.0) for name in counts)
    if not known:
        return dict.fromkeys(counts, 1.0)
    return {
        name: shares.get(name, 0.0) / known * len(names) / count for name, count in counts.items()
    }


def _demand(request: PlannedRequest, misses: RowMisses) -> Requests:
    """Returns what one request asks for; arrivals are counted where it is sent."""
    kind = request.kind
    keys = 1 if kind == "cop" else len(request.keys)
    read: Sequence[bytes] = ()
    if kind in ("get", "batch_get") or (kind == "lock" and not request.insert):
        read = request.keys
    missed = [miss for key in read for miss in misses.get(key[:PREFIX_LEN], ())]
    blocks, fetches = sum(miss.block for miss in missed), sum(miss.disk for miss in missed)
    sought = keys if request.seeks_versions else 0
    found = Requests(
        1.0, 0.0, keys, sought, request.rows, blocks, fetches, *(request.records or ())
    )
    found.squared_records = found.records**2
    found.request_bytes, found.reply_bytes = request.request_bytes, request.reply_bytes
    return found


def _region_groups(
    written: Sequence[tuple[float, PlannedRequest]],
    visits: Mapping[RegionId, float],
    table_of_region: Mapping[RegionId, int],
) -> list[AlikeRegions]:
    """Returns the regions written to, by how often.

    A sample shows busy regions as they are; of the quiet ones it meets only some, so regions of one
    table that were met rarely share what was met there evenly.
    """
    drawn = Counter(command.region.region_id for _, command in written)
    groups: defaultdict[tuple[int, RegionId | None], AlikeRegions] = defaultdict(AlikeRegions)

    def group_of(region_id: RegionId) -> AlikeRegions:
        return groups[table_of_region[region_id], region_id if drawn[region_id] > BUSY else None]

    for region_id in table_of_region:
        group_of(region_id).regions += 1
    for region_id, often in visits.items():
        group_of(region_id).visits += often
    for weight, command in written:
        group = group_of(command.region.region_id)
        assert command.records is not None, "only commands are written"
        group.lock_bytes += weight * command.records.memory
        if command.kind == "lock":
            group.locks += weight
        else:
            group.others += weight
    return [group for group in groups.values() if group.visits]


def _tables_of(regions: RegionMap, workload: TransactionSource) -> dict[RegionId, int]:
    starts = [table.start_key for table in workload.tables()]
    tables: dict[RegionId, int] = {}
    number = 0
    for route in regions.routes:
        while number + 1 < len(starts) and starts[number + 1] <= route.region.start_key:
            number += 1
        tables[route.region.region_id] = number
    return tables
