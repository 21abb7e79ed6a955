"""Serving without a lease: a quorum confirms the leader first.

Law: the lease begins when the question was sent, not when the answers have come; a leader that is
handing over, or has not applied what was committed before it led, gets no lease.

Source: tikv/tikv components/raftstore/src/store/peer.rs (read_index, maybe_renew_leader_lease);
etcd-io/raft read_only.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.protocol.raft import LEADER

if TYPE_CHECKING:
    from sim.raftstore.msg import ReadIndex
    from sim.raftstore.peer import Peer
    from sim.server.cluster import Cluster
    from sim.server.store import Store


class QuorumReads:
    """Read indexes asked on one store."""

    __slots__ = ("_asked_ns", "_cluster", "_lease_ns", "_next", "_store")

    def __init__(self, cluster: Cluster, store: Store, lease_ns: int) -> None:
        self._cluster = cluster
        self._store = store
        self._lease_ns = lease_ns
        self._next = 0
        self._asked_ns: dict[int, tuple[int, int]] = {}
        """By context: when it was asked, and in which term."""

    def ask(self, peer: Peer, _: ReadIndex) -> None:
        """Asks the replicas whether this is still the leader, for all requests parked so far."""
        if peer.raft.role is not LEADER or not peer.has_applied_to_current_term:
            return
        self._next += 1
        self._asked_ns[self._next] = (self._cluster.env.now_ns, peer.raft.term)
        self._cluster.probe.mark("snapshot.read_index")
        self._store.wake(peer)
        peer.raft.read_index(self._next)

    def confirmed(self, peer: Peer, contexts: list[int]) -> None:
        """Renews the lease and serves what was parked."""
        for context in contexts:
            asked_ns, term = self._asked_ns.pop(context, (0, 0))
            if term == peer.raft.term and not peer.raft.lead_transferee and peer.may_hold_lease:
                until_ns = asked_ns + self._lease_ns
                peer.lease_until_ns = max(peer.lease_until_ns, until_ns)
        self._store.serving.serve_parked(peer)
