"""What is under way when a run ends: how many transactions and requests, and since when.

Facts of latencies are of what has ended. Without these, a transaction that never comes back would
be in no figure at all.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from sim.client.client_stats import Population
from sim.client.connections import InFlight
from sim.client.tidb import TidbNode
from sim.protocol.region_errors import RegionError
from sim.record.recorder import Recorder
from sim.server.cluster import Cluster
from sim.storage.request import KvRequest

LOCK_WAITING: Final = "lock_waiting"
"""Class of lock requests that wait for another transaction's lock, not for their store."""


def record_transactions(recorder: Recorder, population: Population, now_ns: int) -> None:
    """Records the age of each transaction that has not ended."""
    for name, age_ns in population.unfinished(now_ns):
        recorder.series("txn_unfinished", name).add(age_ns)


def record_requests(recorder: Recorder, nodes: Iterable[TidbNode], cluster: Cluster) -> None:
    """Records the age of each request without an answer, counted from when it was first sent."""
    waiting = set(_waiting_for_locks(cluster))
    for node in nodes:
        for group in node.connections.in_flight:
            age_ns = node.env.now_ns - group.began_ns
            for request in _unanswered(group):
                name = LOCK_WAITING if request in waiting else request.kind.name.lower()
                recorder.series("request_unfinished", name).add(age_ns)


def _unanswered(group: InFlight) -> Iterator[KvRequest]:
    """Yields the requests without an answer, also those that are held back to be sent again."""
    for request in group.requests:
        result = request.result
        again = isinstance(result, RegionError) and result is not group.failure
        if request.caller is group or result is None or again:
            yield request


def _waiting_for_locks(cluster: Cluster) -> Iterator[KvRequest]:
    for store in cluster.stores.values():
        yield from store.scheduler.waits.requests()
