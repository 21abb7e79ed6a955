"""Requests by region: cut, sent together, and gathered again.

Law: keys keep their order; keys of one region travel together until 16 KiB are full; a group's
event fires when the last reply has come.

Source: tikv/client-go txnkv/transaction/2pc.go (groupMutations, txnCommitBatchSize).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpy import Event

from sim.cluster.request import Kind, KvRequest
from sim.protocol.percolator import Acquired, MvccError
from sim.units import KIB

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sim.client.client_stats import ClientStats
    from sim.cluster.cluster import Cluster
    from sim.engine import LeanEnv
    from sim.protocol.percolator import Mutation
    from sim.protocol.region import Region


class Nobody:
    """Caller of a request that is not on its way."""

    __slots__ = ()

    def replied(self, request: KvRequest) -> None:
        """Refuses: a request is put into a group before it is sent."""
        raise AssertionError(f"nobody waits for {request}")


NOBODY = Nobody()

_LOCK: Final = Kind.LOCK

BATCH_BYTES = 16 * KIB
"""``txnCommitBatchSize``: a larger request is cut."""


class RequestGroup:
    """Requests sent together; their caller. ``event`` fires when all are answered.

    A group and its requests let go of each other as the replies come: what a unit drops is free at
    once, and its run needs no search for cycles.
    """

    __slots__ = ("_env", "_pending", "_stats", "event", "requests")

    def __init__(self, env: LeanEnv, requests: list[KvRequest], stats: ClientStats) -> None:
        self._env = env
        self._stats = stats
        self._pending = len(requests)
        self.requests = requests
        self.event = Event(env)
        for request in requests:
            request.caller = self

    def replied(self, request: KvRequest) -> None:
        """Takes one reply; the last one fires the event."""
        request.done_ns = self._env.now_ns
        request.caller = NOBODY
        if request.kind is _LOCK and request.result.__class__ is Acquired:
            self._stats.lock_replied(request)
        self._pending -= 1
        if not self._pending:
            self.all_replied()

    def all_replied(self) -> None:
        """Wakes whoever waits for the group."""
        self._env.fire(self.event)

    def refusals(self) -> list[KvRequest]:
        """Returns the requests that were refused, in the order of their sending."""
        return [request for request in self.requests if isinstance(request.result, MvccError)]


class RegionGroup:
    """What travels to one region in one request: keys, or mutations and their keys."""

    __slots__ = ("keys", "mutations", "region", "size_bytes")

    def __init__(self, region: Region) -> None:
        self.region = region
        self.keys: list[bytes] = []
        self.mutations: list[Mutation] = []
        self.size_bytes = 0

    def takes(self, key: bytes, size_bytes: int) -> bool:
        """Returns whether ``key`` belongs here and ``size_bytes`` more are not too many."""
        if self.size_bytes + size_bytes > BATCH_BYTES:
            return False
        region = self.region
        return region.start_key <= key and (not region.end_key or key < region.end_key)


def keys_by_region(cluster: Cluster, keys: Sequence[bytes]) -> list[tuple[Region, list[bytes]]]:
    """Returns the keys in groups of one region and at most 16 KiB, by first appearance."""
    if len(keys) == 1:
        return [(cluster.locate(keys[0]), list(keys))]
    groups = _RegionGroups(cluster)
    group: RegionGroup | None = None
    for key in keys:
        size = len(key)
        if group is None or not group.takes(key, size):
            group = groups.find(key, size)
        group.keys.append(key)
        group.size_bytes += size
    return [(group.region, group.keys) for group in groups.all]


def mutations_by_region(cluster: Cluster, mutations: Sequence[Mutation]) -> list[RegionGroup]:
    """Returns mutations in groups of one region and at most 16 KiB, by first appearance."""
    groups = _RegionGroups(cluster)
    group: RegionGroup | None = None
    for mutation in mutations:
        key, _, value_bytes, _, _ = mutation
        size = len(key) + value_bytes if value_bytes > 0 else len(key)
        if group is None or not group.takes(key, size):
            group = groups.find(key, size)
        group.keys.append(key)
        group.mutations.append(mutation)
        group.size_bytes += size
    return groups.all


class _RegionGroups:
    """Groups in the making: the newest one of each region is open."""

    __slots__ = ("_cluster", "_open", "all")

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._open: dict[int, RegionGroup] = {}
        self.all: list[RegionGroup] = []

    def find(self, key: bytes, size_bytes: int) -> RegionGroup:
        """Returns the open group of the key's region, or a new one if that is full."""
        region = self._cluster.locate(key)
        group = self._open.get(region.region_id)
        if group is None or (group.keys and group.size_bytes + size_bytes > BATCH_BYTES):
            group = self._open[region.region_id] = RegionGroup(region)
            self.all.append(group)
        return group
