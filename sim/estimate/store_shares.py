"""How the load falls on stores: what each leads of it, and what it keeps copies of.

A region that more transactions ask for than luck explains is taken as it was drawn. What is left of
a table is spread evenly over its other regions, of which a sample meets only some, or some more
often than others by chance.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Final

from sim.estimate.planned_request import PlannedRequest, RequestKind
from sim.estimate.transaction_plan import TransactionPlan
from sim.protocol.region import RegionId, RegionMap, StoreId

BUSY: Final = 8
"""A region drawn more often than this may be taken as it was drawn."""
_DEVIATIONS: Final = 4.0
"""By so many standard deviations (Poisson) a region has more than the mean of its table's others
if it is busy by nature, not by luck."""


@dataclass(frozen=True, slots=True)
class StoreShare:
    """What one store has of each kind of request, over what the mean store has."""

    led: Mapping[RequestKind, float] = field(default_factory=dict)
    """Of regions that it leads."""
    kept: Mapping[RequestKind, float] = field(default_factory=dict)
    """Of regions that it has a replica of."""

    def of(self, counts: Mapping[RequestKind, float]) -> tuple[float, float]:
        """Returns (led, kept) of so many requests of each kind together."""
        total = sum(counts.values())
        if not total:
            return 1.0, 1.0
        led, kept = (
            sum(count * share.get(kind, 1.0) for kind, count in counts.items()) / total
            for share in (self.led, self.kept)
        )
        return led, kept


UNEVEN: Final = 1.1
"""A store that has more than this, over the mean one, is looked at by itself."""
EVEN: Final = StoreShare()
"""The mean store's."""


def requests_of(plan: TransactionPlan) -> list[PlannedRequest]:
    """Returns all that a transaction sends."""
    return [each for together in (*plan.rounds, plan.background) for each in together]


def store_shares(
    weighted: Sequence[tuple[float, TransactionPlan]],
    regions: RegionMap,
    table_of_region: Mapping[RegionId, int],
    stores: int,
) -> list[StoreShare]:
    """Returns what each store has of a mean transaction, by its number.

    Args:
        weighted: the sample, and what each of its transactions stands for.
        regions: where they are.
        table_of_region: number of the table in which each begins.
        stores: how many there are.
    """
    asked: defaultdict[tuple[RequestKind, int], _Asked] = defaultdict(_Asked)
    for weight, plan in weighted:
        requests = requests_of(plan)
        for request in requests:
            region_id = request.region.region_id
            asked[request.kind, table_of_region[region_id]].weights[region_id] += weight
        for kind, region_id in {(each.kind, each.region.region_id) for each in requests}:
            asked[kind, table_of_region[region_id]].met[region_id] += 1
    placed = _Placed(regions, table_of_region)
    for (kind, table), of_table in asked.items():
        placed.add(kind, table, of_table)
    return placed.shares(stores)


@dataclass(slots=True)
class _Asked:
    """Requests of one kind for the regions of one table."""

    weights: defaultdict[RegionId, float] = field(default_factory=lambda: defaultdict(float))
    """Requests of a mean transaction."""
    met: defaultdict[RegionId, int] = field(default_factory=lambda: defaultdict(int))
    """Transactions of the sample."""

    def busy(self, regions: int) -> list[RegionId]:
        """Returns the regions that stand out, of so many."""
        total = sum(self.met.values())
        found = []
        for region_id, often in sorted(self.met.items()):
            others = (total - often) / max(1, regions - 1)
            if often > max(BUSY, others + _DEVIATIONS * sqrt(others)):
                found.append(region_id)
        return found


_ByStore = defaultdict[StoreId, float]


def _by_store() -> _ByStore:
    return defaultdict(float)


class _Placed:
    """Adds up by store what is asked for by region."""

    def __init__(self, regions: RegionMap, table_of_region: Mapping[RegionId, int]) -> None:
        self._stores_of = {each.region.region_id: each.region.stores for each in regions.routes}
        self._leaders: defaultdict[int, _ByStore] = defaultdict(_by_store)
        self._replicas: defaultdict[int, _ByStore] = defaultdict(_by_store)
        stores_of = map(self._stores_of.__getitem__, table_of_region)
        for (table, stores), number in Counter(
            zip(table_of_region.values(), stores_of, strict=True)
        ).items():
            _add(number, stores, self._leaders[table], self._replicas[table])
        self._led: defaultdict[RequestKind, _ByStore] = defaultdict(_by_store)
        self._kept: defaultdict[RequestKind, _ByStore] = defaultdict(_by_store)

    def add(self, kind: RequestKind, table: int, asked: _Asked) -> None:
        """Adds the requests of one kind for one table."""
        busy = asked.busy(round(sum(self._leaders[table].values())))
        leaders, replicas = self._leaders[table].copy(), self._replicas[table].copy()
        rest = sum(asked.weights.values())
        for region_id in busy:
            stores, weight = self._stores_of[region_id], asked.weights[region_id]
            _add(-1, stores, leaders, replicas)
            _add(weight, stores, self._led[kind], self._kept[kind])
            rest -= weight
        of_each = rest / max(1.0, sum(leaders.values()))
        for count, into in ((leaders, self._led[kind]), (replicas, self._kept[kind])):
            for store, number in count.items():
                into[store] += number * of_each

    def shares(self, stores: int) -> list[StoreShare]:
        """Returns what each of so many stores has, by its number."""

        def over_mean(
            store: int, counted: Mapping[RequestKind, _ByStore]
        ) -> dict[RequestKind, float]:
            return {
                kind: by[StoreId(store)] * stores / sum(by.values()) for kind, by in counted.items()
            }

        return [
            StoreShare(over_mean(store, self._led), over_mean(store, self._kept))
            for store in range(1, stores + 1)
        ]


def _add(number: float, stores: Sequence[StoreId], leaders: _ByStore, replicas: _ByStore) -> None:
    """Adds so much of a region to the store that leads it, and to those that have a replica."""
    leaders[stores[0]] += number
    for store in stores:
        replicas[store] += number
