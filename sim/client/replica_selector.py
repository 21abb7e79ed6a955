"""Which replica of a region a request is sent to next: the leader first, then each of the others.

Source: tikv/client-go internal/locate/replica_selector.go (ReplicaSelectLeaderStrategy,
ReplicaSelectMixedStrategy).
"""

from typing import Final

from sim.client.connections import Connections
from sim.storage.request import KvRequest

MAX_ATTEMPTS: Final = 10
"""``maxReplicaAttempt``: how often one request is sent to a leader without a wait in between."""


class ReplicaSelector:
    """Which replicas have been tried for one request in one region."""

    __slots__ = ("first_sent_ns", "hints", "refused", "stale")

    def __init__(self, first_sent_ns: int) -> None:
        self.first_sent_ns = first_sent_ns
        self.hints = 0
        """How often a store has named another one as the leader."""
        self.stale = 0
        """How often a leader has said that its term was over."""
        self.refused: dict[int, None] = {}
        """Stores that did not answer, or did not know the leader (a dict as a set)."""

    def next_untried(self, request: KvRequest, connections: Connections) -> int:
        """Returns the next store to try; 0 if there is none."""
        stores = request.region.stores
        last = stores.index(request.store) if request.store in stores else 0
        for store in stores[last + 1 :] + stores[: last + 1]:
            if store not in self.refused and not connections.is_known_broken(store):
                return store
        return 0

    def store_for(self, part: KvRequest, last_store: int, connections: Connections) -> int:
        """Returns where to send a request: to the leader, or to a replica that may know it."""
        leader = part.store
        unknown = not leader or leader in self.refused
        if not unknown and not connections.is_known_broken(leader):
            return leader
        part.store = last_store
        return self.next_untried(part, connections) or leader or part.region.stores[0]
