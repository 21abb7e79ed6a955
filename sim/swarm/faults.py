"""Carries out a recipe's faults on a cluster.

A fault asks for something that is possible at the moment: numbers are taken modulo what is there, a
store that is down is not stopped again, the last regions are not merged away. A fault that lasts
for a time ends itself; ``heal_all`` ends all at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from sim.client.tidb import TidbNode
from sim.protocol.keys import row_key
from sim.protocol.region import Region
from sim.raftstore.peer import Peer
from sim.server.cluster import Cluster
from sim.server.control import Control
from sim.swarm.recipe import HELD_POINTS, Fault, Recipe
from sim.swarm.scenario import ELECTION_TICKS, NEW_VERSION, OLD_VERSION
from sim.swarm.workload import ACCOUNTS, INDEX, ORDERS
from sim.transport.filters import KINDS
from sim.transport.messages import DiskUsage
from sim.transport.nodes import store_name
from sim.units import NS_PER_MS

_LIMITS = (
    "pessimistic-txn.in-memory-peer-size-limit",
    "pessimistic-txn.in-memory-instance-size-limit",
)
_SWITCHES = ("pessimistic-txn.pipelined", "pessimistic-txn.in-memory")


class Faults:
    """What happens to one cluster."""

    def __init__(self, cluster: Cluster, nodes: Sequence[TidbNode], recipe: Recipe) -> None:
        self._cluster = cluster
        self._nodes = nodes
        self._control = Control(cluster)
        self._recipe = recipe
        self._over = False
        self._held: list[tuple[str, int, int]] = []
        """Point, store, region (0: all)."""

    def schedule(self) -> None:
        """Puts every fault of the recipe at its time."""
        for fault in self._recipe.faults:
            self._cluster.env.at(fault.at_ns, self._happen, fault)

    def heal_all(self) -> None:
        """Ends every fault; from now on none begins."""
        self._over = True
        cluster = self._cluster
        cluster.filters.clear()
        for point, store_id, region_id in self._held:
            cluster.failpoints.release(point, store=store_id, region=region_id)
        self._control.heal()
        for store_id, store in cluster.stores.items():
            self._control.slow_disk(store_id, 1.0)
            self._control.free_disk(store_id)
            if not store.up:
                self._control.restart_store(store_id)

    def _happen(self, fault: Fault) -> None:
        if not self._over:
            self._BY_VERB[fault.verb](self, fault)

    def _later(self, fault: Fault, undo: Callable[[None], object]) -> None:
        env = self._cluster.env
        env.at(env.now_ns + fault.value * NS_PER_MS, undo, None)

    def _region(self, number: int) -> Region:
        routes = self._cluster.pd.routes.routes
        return routes[number % len(routes)].region

    def _store(self, number: int) -> int:
        return number % self._recipe.stores + 1

    def _transfer(self, fault: Fault) -> None:
        region = self._region(fault.which)
        to_store = region.stores[fault.where % len(region.stores)]
        self._control.transfer_leader(region.region_id, to_store)

    def _split_key(self, fault: Fault) -> bytes:
        table = (ACCOUNTS, ACCOUNTS, ACCOUNTS, ORDERS, INDEX)[fault.where % 5]
        return row_key(table, fault.where // 5 % self._recipe.rows + 1)

    def _split(self, fault: Fault) -> None:
        key = self._split_key(fault)
        region = self._cluster.pd.routes.locate(key).region
        if region.start_key != key:
            self._control.split_region(region.region_id, key)

    def _merge(self, fault: Fault) -> None:
        pair = self._neighbours(fault)
        if pair is not None:
            self._control.merge_region(*pair)

    def _neighbours(self, fault: Fault) -> tuple[int, int] | None:
        """Returns the source and the target of a merge, None if there is one region only."""
        routes = self._cluster.pd.routes.routes
        if len(routes) < 2:
            return None
        left = fault.which % (len(routes) - 1)
        pair = routes[left].region.region_id, routes[left + 1].region.region_id
        return pair if fault.where % 2 else (pair[1], pair[0])

    def _crash(self, fault: Fault) -> None:
        store_id = self._store(fault.which)
        if self._cluster.stores[store_id].up:
            self._control.crash_store(store_id)
            self._later(fault, lambda _: self._restart(store_id))

    def _restart(self, store_id: int) -> None:
        if not self._cluster.stores[store_id].up:
            self._control.restart_store(store_id)

    def _isolate(self, fault: Fault) -> None:
        self._control.isolate([store_name(self._store(fault.which))])
        self._later(fault, lambda _: self._control.heal())

    def _heal(self, _: Fault) -> None:
        self._control.heal()

    def _drop(self, fault: Fault) -> None:
        kind = KINDS[fault.where % len(KINDS)]
        rule = self._cluster.filters.drop(kind, dst=self._store(fault.which))
        self._later(fault, lambda _: self._cluster.filters.remove(rule))

    def _delay(self, fault: Fault) -> None:
        kind = KINDS[fault.where % len(KINDS)]
        delay_ns = fault.value * NS_PER_MS
        self._cluster.filters.delay(kind, delay_ns, src=self._store(fault.which))

    def _clear_filters(self, _: Fault) -> None:
        self._cluster.filters.clear()

    def _slow_disk(self, fault: Fault) -> None:
        self._control.slow_disk(self._store(fault.which), float(fault.value))

    def _set_config(self, fault: Fault) -> None:
        if fault.where % 2:
            self._control.set_config(_LIMITS[fault.which % 2], fault.value)
        else:
            self._control.set_config(_SWITCHES[fault.which % 2], bool(fault.value % 2))

    def _change_peer(self, fault: Fault) -> None:
        region = self._region(fault.which)
        store_id = self._store(fault.where)
        if store_id not in region.stores:
            self._control.change_peer(region.region_id, add=store_id)
        elif len(region.stores) > self._recipe.replicas:
            self._control.change_peer(region.region_id, remove=store_id)

    def _campaign(self, fault: Fault) -> None:
        region = self._region(fault.which)
        store_id = region.stores[fault.where % len(region.stores)]
        if self._cluster.stores[store_id].up:
            self._control.campaign(region.region_id, store_id)

    def _hold(self, fault: Fault) -> None:
        point = HELD_POINTS[fault.where % len(HELD_POINTS)]
        self._hold_up(fault, point, self._store(fault.which), 0)

    def _hold_apply(self, fault: Fault) -> None:
        """Holds up the apply of one replica: where 0, the leader's."""
        region = self._region(fault.which)
        leader = self._cluster.leader_of(region.region_id)
        if leader is not None:
            stores = [leader.store, *(each for each in region.stores if each != leader.store)]
            store_id = stores[fault.where % len(stores)]
            self._hold_up(fault, "before_apply", store_id, region.region_id)

    def _hold_writes(self, fault: Fault) -> None:
        """Holds up what the commands of a leader have to write, or to propose."""
        leader = self._cluster.leader_of(self._region(fault.which).region_id)
        if leader is not None:
            point = ("before_write", "before_propose")[fault.where % 2]
            self._hold_up(fault, point, leader.store, leader.region.region_id)

    def _away_and_back(self, fault: Fault) -> None:
        """Moves a region's leadership to another store, and later back."""
        region_id = self._region(fault.which).region_id
        leader = self._cluster.leader_of(region_id)
        if leader is None:
            return
        here = leader.store
        others = [store_id for store_id in leader.region.stores if store_id != here]
        if others:
            self._control.transfer_leader(region_id, others[fault.where % len(others)])
            self._later(fault, lambda _: self._back(region_id, here))

    def _reelect(self, fault: Fault) -> None:
        """Lets a leader step down behind a split that it cannot apply, and be elected again.

        It does not hear its followers, who hear it, until it steps down; it stands for election as
        soon as they may vote. What its commands have to propose waits for that.
        """
        key = self._split_key(fault)
        region = self._cluster.pd.routes.locate(key).region
        leader = self._cluster.leader_of(region.region_id)
        if leader is None or region.start_key == key:
            return
        for point in ("before_apply", "before_propose"):
            self._hold_up(fault, point, leader.store, region.region_id)
            fault = replace(fault, value=fault.value - 2 * self._recipe.tick_ms)
        self._control.split_region(region.region_id, key)
        env = self._cluster.env
        env.at(env.now_ns + 5 * NS_PER_MS, self._deafen, leader)

    def _deafen(self, leader: Peer) -> None:
        """Keeps a leader from hearing its followers; when it has stepped down, it stands again."""
        env, filters, region_id = self._cluster.env, self._cluster.filters, leader.region.region_id
        rule = filters.drop(dst=leader.store, region=region_id)
        tick_ns = self._recipe.tick_ms * NS_PER_MS

        def look(_: object) -> None:
            if leader.is_leader and not self._over:
                env.at(env.now_ns + tick_ns, look, None)
            else:
                filters.remove(rule)
                env.at(env.now_ns + ELECTION_TICKS * tick_ns, stand, None)

        def stand(_: object) -> None:
            if not self._over and not leader.died:
                self._control.campaign(region_id, leader.store)

        look(None)

    def _back(self, region_id: int, to_store: int) -> None:
        if not self._over:
            self._control.transfer_leader(region_id, to_store)

    def _hold_up(self, fault: Fault, point: str, store_id: int, region_id: int) -> None:
        failpoints = self._cluster.failpoints
        self._held.append((point, store_id, region_id))
        failpoints.hold(point, store=store_id, region=region_id)
        self._later(fault, lambda _: failpoints.release(point, store=store_id, region=region_id))

    def _lag(self, fault: Fault) -> None:
        """Delays what the replica of a merge's target hears beside the source's leader."""
        pair = self._neighbours(fault)
        leader = None if pair is None else self._cluster.leader_of(pair[0])
        if pair is not None and leader is not None:
            delay_ns = fault.value * NS_PER_MS
            filters = self._cluster.filters
            rule = filters.delay("Append", delay_ns, dst=leader.store, region=pair[1])
            self._later(fault, lambda _: filters.remove(rule))

    def _forget_routes(self, fault: Fault) -> None:
        """Makes a TiDB node ask PD about every region that it knows."""
        node = self._nodes[fault.which % len(self._nodes)]
        for route in self._cluster.pd.routes.routes:
            node.regions.invalidate(route.region)
            node.regions.invalidate(node.regions.locate(route.region.start_key).region)

    def _upgrade(self, fault: Fault) -> None:
        """Restarts a store as another version, up or down."""
        store_id = self._store(fault.which)
        version = NEW_VERSION if fault.where % 3 else OLD_VERSION
        self._control.crash_store(store_id)
        self._control.upgrade_store(store_id, version)
        self._restart(store_id)

    def _fill_disk(self, fault: Fault) -> None:
        store_id = self._store(fault.which)
        usage = DiskUsage.ALMOST_FULL if fault.where % 2 else DiskUsage.ALREADY_FULL
        self._control.fill_disk(store_id, usage)
        self._later(fault, lambda _: self._control.free_disk(store_id))

    _BY_VERB: ClassVar[dict[str, Callable[[Faults, Fault], None]]] = {
        "transfer": _transfer,
        "split": _split,
        "merge": _merge,
        "crash": _crash,
        "isolate": _isolate,
        "heal": _heal,
        "drop": _drop,
        "delay": _delay,
        "clear_filters": _clear_filters,
        "slow_disk": _slow_disk,
        "set_config": _set_config,
        "change_peer": _change_peer,
        "campaign": _campaign,
        "hold": _hold,
        "hold_apply": _hold_apply,
        "hold_writes": _hold_writes,
        "away_and_back": _away_and_back,
        "reelect": _reelect,
        "lag": _lag,
        "forget_routes": _forget_routes,
        "upgrade": _upgrade,
        "fill_disk": _fill_disk,
    }
