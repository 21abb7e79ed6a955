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
    from collections.abc import Callable, Sequence

    from sim.client.client_stats import ClientStats
    from sim.cluster.cluster import Cluster
    from sim.engine import LeanEnv
    from sim.protocol.percolator import Mutation
    from sim.protocol.region import Region

BATCH_BYTES = 16 * KIB
"""``txnCommitBatchSize``: a larger request is cut."""


class RequestGroup:
    """Requests sent together; their caller."""

    __slots__ = ("_env", "_pending", "_stats", "_then", "event", "requests")

    def __init__(
        self,
        env: LeanEnv,
        requests: list[KvRequest],
        stats: ClientStats,
        then: Callable[[RequestGroup], None] | None = None,
    ) -> None:
        """Args: ``then`` is called instead of firing ``event``, for work in the background."""
        self._env = env
        self._stats = stats
        self._pending = len(requests)
        self._then = then
        self.requests = requests
        self.event = Event(env) if then is None else None
        for request in requests:
            request.caller = self

    def replied(self, request: KvRequest) -> None:
        """Takes one reply; the last one fires the event."""
        request.done_ns = self._env.now_ns
        if request.kind is Kind.LOCK and request.result.__class__ is Acquired:
            self._stats.lock_replied(request)
        self._pending -= 1
        if self._pending:
            return
        if self._then is not None:
            self._then(self)
        else:
            assert self.event is not None, "a group in the foreground has an event"
            self._env.fire(self.event, self)

    def refusals(self) -> list[KvRequest]:
        """Returns the requests that were refused, in the order of their sending."""
        return [request for request in self.requests if isinstance(request.result, MvccError)]


def keys_by_region(
    cluster: Cluster, keys: Sequence[bytes]
) -> list[tuple[Region, list[bytes]]]:
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
