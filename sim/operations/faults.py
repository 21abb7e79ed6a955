"""Operations on stores, disks, the network and messages, each for a time or until it is ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator

    from simpy import Event

    from sim.operations.operator import Hands
    from sim.scenario.resolved_operations import (
        CrashStore,
        DelayMessages,
        DropMessages,
        FillDisk,
        Partition,
        RegionTarget,
        RestartStore,
        SetConfig,
        SlowDisk,
        StoreTarget,
    )

    Process = Generator[Event, Any, None]


def crash_store(hands: Hands, operation: CrashStore) -> Process:
    """Kills a store that is up, and starts it again after a while."""
    up = hands.cluster.up_stores()
    store = hands.choice.store(operation.store, up)
    if store is None or store not in up:
        return
    hands.journal.note(operation.do, f"store {store}")
    hands.control.crash_store(store)
    if operation.for_ns is not None:
        yield hands.env.timeout(operation.for_ns)
        _restart(hands, store, f"{operation.do}_end")


def restart_store(hands: Hands, operation: RestartStore) -> None:
    """Starts a store that is down."""
    up = hands.cluster.up_stores()
    down = [store for store in hands.cluster.stores if store not in up]
    store = hands.choice.store(operation.store, down)
    if store is not None and store in down:
        hands.journal.note(operation.do, f"store {store}")
        hands.control.restart_store(store)


def _restart(hands: Hands, store: int, kind: str) -> None:
    """Starts a store unless somebody else has."""
    if store not in hands.cluster.up_stores():
        hands.journal.mark(kind, f"store {store}")
        hands.control.restart_store(store)


def partition(hands: Hands, operation: Partition) -> Process:
    """Cuts the network; healing ends every cut there is."""
    if operation.groups is not None:
        hands.journal.note(operation.do, " | ".join(" ".join(g) for g in operation.groups))
        hands.control.partition([list(group) for group in operation.groups])
    else:
        assert operation.isolate is not None, "the schema wants groups or isolate"
        store = hands.choice.store(operation.isolate, hands.cluster.up_stores())
        if store is None:
            return
        hands.journal.note(operation.do, f"store-{store}")
        hands.control.isolate([f"store-{store}"])
    if operation.for_ns is not None:
        yield hands.env.timeout(operation.for_ns)
        hands.journal.mark(f"{operation.do}_end", "")
        hands.control.heal()


def slow_disk(hands: Hands, operation: SlowDisk) -> Process:
    """Makes the disks of a store slower."""
    store = hands.choice.store(operation.store, sorted(hands.cluster.stores))
    if store is None:
        return
    hands.journal.note(operation.do, f"store {store} by {operation.factor:g}")
    hands.control.slow_disk(store, operation.factor)
    if operation.for_ns is not None:
        yield hands.env.timeout(operation.for_ns)
        hands.journal.mark(f"{operation.do}_end", f"store {store}")
        hands.control.slow_disk(store, 1.0)


def fill_disk(hands: Hands, operation: FillDisk) -> Process:
    """Leaves a store without space."""
    store = hands.choice.store(operation.store, sorted(hands.cluster.stores))
    if store is None:
        return
    hands.journal.note(operation.do, f"store {store}")
    hands.control.fill_disk(store)
    if operation.for_ns is not None:
        yield hands.env.timeout(operation.for_ns)
        hands.journal.mark(f"{operation.do}_end", f"store {store}")
        hands.control.free_disk(store)


def set_config(hands: Hands, operation: SetConfig) -> None:
    """Changes a key online, on one store or on all."""
    store = None
    if operation.store is not None:
        store = hands.choice.store(operation.store, hands.cluster.up_stores())
        if store is None:
            return
    where = "" if store is None else f" on store {store}"
    hands.journal.note(operation.do, f"{operation.key} = {operation.value}{where}")
    hands.control.set_config(operation.key, operation.value, store=store)


def disturb_messages(hands: Hands, operation: DropMessages | DelayMessages) -> Process:
    """Loses or delays raft messages of a kind."""
    src = _store_or_any(hands, operation.from_store)
    dst = _store_or_any(hands, operation.to_store)
    region = _region_or_any(hands, operation.region)
    if src is None or dst is None or region is None:
        return
    delay_ns = getattr(operation, "delay_ns", 0)
    hands.journal.note(operation.do, operation.kind)
    rule = hands.cluster.filters.delay(operation.kind, delay_ns, src=src, dst=dst, region=region)
    if operation.for_ns is not None:
        yield hands.env.timeout(operation.for_ns)
        hands.journal.mark(f"{operation.do}_end", operation.kind)
        hands.cluster.filters.remove(rule)


def _store_or_any(hands: Hands, target: StoreTarget | None) -> int | None:
    """Returns a store, 0 for any, None if the one that is meant does not exist."""
    return 0 if target is None else hands.choice.store(target, sorted(hands.cluster.stores))


def _region_or_any(hands: Hands, target: RegionTarget | None) -> int | None:
    if target is None:
        return 0
    route = hands.choice.region(target)
    return None if route is None else route.region.region_id
