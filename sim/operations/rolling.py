"""Emptying a store of leaders, and restarting or upgrading stores one after the other.

As tiup does it: an evict-leader scheduler for the store, wait until it leads nothing (or too long),
stop it, start it, take the scheduler away, go on with the next one. tiup looks every 5 s whether
leaders are left, the first time when there still are; so a store goes on answering NotLeader for
seconds after its last leader has left, and most clients learn the new leaders from it.

Source: tikv/pd server/schedulers/evict_leader.go (batch 3, every 10 ms, a random follower takes
over); pingcap/tiup pkg/cluster/operation (rolling restart, --transfer-timeout), pkg/cluster/api
pdapi.go (EvictStoreLeader: looks every 5 s).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sim.operations.choice import drawn
from sim.operations.transfers import LEADER_SCHEDULE_LIMIT
from sim.scenario.resolved_operations import EvictLeader, UpgradeStore
from sim.units import NS_PER_MS, NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Generator

    from simpy import Event

    from sim.operations.operator import Hands

_BATCH: Final = 3
_INTERVAL_NS: Final = 10 * NS_PER_MS
_LOOK_NS: Final = 5 * NS_PER_S


def rolled(hands: Hands, operation: EvictLeader | UpgradeStore) -> Generator[Event, Any, None]:
    """Takes all stores that are meant through it, one after the other."""
    for place, store in enumerate(hands.choice.stores(operation.store)):
        if place:
            yield hands.env.timeout(operation.pause_ns)
        hands.journal.note(operation.do, f"store {store}")
        if operation.restart:
            yield from _restarted(hands, operation, store)
        elif isinstance(operation, EvictLeader):
            hands.transfers.evicted[store] = None
            yield from _kept_empty(hands, store, hands.env.now_ns + operation.for_ns)
            hands.transfers.evicted.pop(store, None)
        else:
            hands.control.upgrade_store(store, operation.to)
        hands.journal.mark(f"{operation.do}_end", f"store {store}")


def _restarted(
    hands: Hands, operation: EvictLeader | UpgradeStore, store: int
) -> Generator[Event, Any, None]:
    hands.transfers.evicted[store] = None
    yield from _emptied(hands, store, hands.env.now_ns + operation.timeout_ns)
    hands.journal.mark("stop", f"store {store}")
    hands.control.crash_store(store)
    yield hands.env.timeout(operation.down_ns)
    if isinstance(operation, UpgradeStore):
        hands.control.upgrade_store(store, operation.to)
    hands.control.restart_store(store)
    hands.journal.mark("start", f"store {store}")
    hands.transfers.evicted.pop(store, None)


def _emptied(hands: Hands, store: int, until_ns: int) -> Generator[Event, Any, None]:
    """Moves leaders away until somebody who looks from time to time finds none."""
    while hands.transfers.led_by(store) and hands.env.now_ns < until_ns:
        look_ns = min(hands.env.now_ns + _LOOK_NS, until_ns)
        yield from _kept_empty(hands, store, look_ns)


def _kept_empty(hands: Hands, store: int, until_ns: int) -> Generator[Event, Any, None]:
    """Moves leaders away, also those that come later."""
    while hands.env.now_ns < until_ns:
        _evict(hands, store)
        yield hands.env.timeout(_INTERVAL_NS)


def _evict(hands: Hands, store: int) -> None:
    """Asks for some transfers, as far as the limit allows."""
    transfers = hands.transfers
    free = min(_BATCH, LEADER_SCHEDULE_LIMIT - transfers.under_way())
    for route in transfers.led_by(store):
        if free <= 0:
            return
        if transfers.is_busy(route.region.region_id):
            continue
        to_store = drawn(transfers.places_for(route), hands.choice.stream)
        if to_store is not None:
            transfers.begin(route.region.region_id, to_store)
            free -= 1
