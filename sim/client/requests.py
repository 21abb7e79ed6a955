"""Requests by region: cut, sent together, and gathered again.

Law: keys keep their order; keys of one region travel together until 16 KiB are full; a group's
event fires when the last reply has come.

Source: tikv/client-go txnkv/transaction/2pc.go (groupMutations, txnCommitBatchSize).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
        if request.kind is Kind.LOCK and request.result.__class__ is Acquired:
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


def keys_by_region(cluster: Cluster, keys: Sequence[bytes]) -> list[tuple[Region, list[bytes]]]:
    """Returns the keys in groups of one region and at most 16 KiB, by first appearance."""
    groups: list[tuple[Region, list[bytes]]] = []
    open_group: dict[int, tuple[list[bytes], int]] = {}
    region: Region | None = None
    for key in keys:
        if region is None or not region.contains(key):
            region = cluster.locate(key)
        size = len(key)
        found = open_group.get(region.region_id)
        if found is None or found[1] + size > BATCH_BYTES:
            group: list[bytes] = []
            groups.append((region, group))
            taken = 0
        else:
            group, taken = found
        group.append(key)
        open_group[region.region_id] = (group, taken + size)
    return groups


def mutations_by_region(
    cluster: Cluster, mutations: Sequence[Mutation]
) -> list[tuple[Region, list[Mutation], int]]:
    """Returns mutations in groups of one region and at most 16 KiB, with each group's bytes."""
    groups: list[tuple[Region, list[Mutation], int]] = []
    open_group: dict[int, int] = {}
    region: Region | None = None
    for mutation in mutations:
        key = mutation.key
        if region is None or not region.contains(key):
            region = cluster.locate(key)
        size = len(key) + max(0, mutation.value_bytes)
        position = open_group.get(region.region_id, -1)
        if position < 0 or groups[position][2] + size > BATCH_BYTES:
            open_group[region.region_id] = len(groups)
            groups.append((region, [mutation], size))
        else:
            _, group, taken = groups[position]
            group.append(mutation)
            groups[position] = (region, group, taken + size)
    return groups
