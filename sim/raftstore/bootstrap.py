"""New replicas: their Raft state and records, at a cluster's bootstrap and later.

Source: tikv/tikv components/raftstore/src/store/{bootstrap.rs, peer_storage.rs
(RAFT_INIT_LOG_TERM, RAFT_INIT_LOG_INDEX)}.
"""

from __future__ import annotations

from typing import Any

from sim.protocol.encoding import lock_format
from sim.protocol.mvcc import Mvcc
from sim.protocol.raft import RaftPeer
from sim.protocol.raft.log import RaftLog
from sim.protocol.region import Region
from sim.raftstore.ticks import PHASES
from sim.scenario.schema.tikv import Tikv
from sim.streams import Stream


class ReplicaFactory:
    """Makes the state of new replicas, for all stores of a cluster."""

    def __init__(self, tikv: Tikv, timeouts: Stream) -> None:
        self._tikv = tikv
        self._timeouts = timeouts
        self._lock_format = lock_format(tikv.version)
        self.keep_rows = False
        """Whether versions without payload are kept as well; a study's rows were never loaded."""

    def raft(self, region: Region, store_id: int, leader: int) -> RaftPeer:
        """Returns the Raft state of a new replica; its log begins as a bootstrapped region's.

        With a ``leader`` the first election is over, and the leader's empty entry forgotten; its
        last heartbeat was sent at a time of the region's own. Were all to begin with one, none
        would follow for a whole interval, and followers would hear late what is committed.
        """
        term = 6 if leader else 5
        raft = RaftPeer(
            region.region_id, store_id, region.stores, leader, term=term, **self._settings()
        )
        raft.log = RaftLog(first_term=term)
        if leader == store_id:
            raft.heartbeat_elapsed = region.region_id // PHASES % raft.heartbeat_ticks
        return raft

    def uninitialized_raft(self, region: Region, store_id: int) -> RaftPeer:
        """Returns the Raft state of a replica that waits for its first snapshot."""
        return RaftPeer.uninitialized(region.region_id, store_id, **self._settings())

    def records(self) -> Mvcc:
        """Returns the records of a new replica: none."""
        return Mvcc(self._lock_format, keep_rows=self.keep_rows)

    def _settings(self) -> dict[str, Any]:
        return {
            "max_inflight": self._tikv.raft_max_inflight_msgs,
            "max_apply_unpersisted": self._tikv.apply_unpersisted_entries,
            "election_ticks": self._tikv.raft_election_timeout_ticks,
            "heartbeat_ticks": self._tikv.raft_heartbeat_ticks,
            "draw_timeout": self._draw_timeout,
        }

    def _draw_timeout(self) -> int:
        """Returns a randomized election timeout in ticks, in [n, 2 n)."""
        ticks = self._tikv.raft_election_timeout_ticks
        return self._timeouts.randint(ticks, 2 * ticks - 1)
