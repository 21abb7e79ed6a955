"""Lock tables: within their limits, written only while they may be, their sizes right.

Invariant: a lock is granted in memory only by a leader whose table is NORMAL and of the command's
own term and the region's version; then the table and the store's tables together are within their
limits. A table's size is the sum of its locks', and a replica that does not lead has an empty
table.

A lock that a split moves is not marked deleted: the command that would delete it was proposed for
the region's old version, and nothing else will take the mark away.

A region whose merge waits behind its fence, or has been proposed, proposes no transfer and takes no
lock into its table.

After a limit was lowered below what a table holds, the table must not grow.

Source: tikv/tikv components/raftstore/src/store/txn_ext.rs (group_by_regions); RFC 77, Correctness.
"""

from collections.abc import Sequence
from typing import Final

from sim.checks.report import Report
from sim.protocol.admin import PrepareMerge
from sim.protocol.keys import show_key
from sim.protocol.lock_table import LocksStatus
from sim.protocol.raft import LEADER
from sim.protocol.records import Lock
from sim.raftstore.peer import Peer
from sim.server.cluster import Cluster
from sim.storage.probe import Probe
from sim.storage.request import KvRequest, LockPath

STATUS: Final = "lock table's status"
LIMITS: Final = "lock table's limits"
BOOKS: Final = "lock table's books"
FENCE: Final = "a merge's fence"

_IN_MEMORY: Final = LockPath.IN_MEMORY
_NORMAL: Final = LocksStatus.NORMAL


class LockTables(Probe):
    """Watches grants."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._sizes: dict[tuple[int, int], int] = {}
        self._used: dict[int, int] = {}

    def granted(self, peer: Peer, request: KvRequest) -> None:
        """Looks at the table that has just taken locks."""
        if request.path is not _IN_MEMORY or not request.result.locks:  # type: ignore[attr-defined]
            return
        table = peer.locks
        raft = peer.raft
        if (
            table.status is not _NORMAL
            or raft.role is not LEADER
            or table.term != raft.term
            or request.term != raft.term
            or table.version != peer.region.epoch.version
            or request.region.epoch.version != table.version
        ):
            self._report.add(
                STATUS, f"a lock of term {request.term} for {request.region} went into {table}"
            )
        if _is_merging(peer):
            self._report.add(FENCE, f"a lock went into {table} of {peer.region}, which merges")
        size, used = table.memory_size, table.instance.used_bytes
        place = (peer.region.region_id, peer.store)
        if size > table.limit_bytes and size > self._sizes.get(place, 0):
            self._report.add(LIMITS, f"{size} B of at most {table.limit_bytes} in {peer.region}")
        if used > table.instance.limit_bytes and used > self._used.get(peer.store, 0):
            self._report.add(
                LIMITS, f"{used} B of at most {table.instance.limit_bytes} on store {peer.store}"
            )
        self._sizes[place] = size
        self._used[peer.store] = used

    def locks_moved(self, peer: Peer, new_peer: Peer, keys: Sequence[bytes]) -> None:
        """Looks at the table of a new region."""
        marked = [key for key in keys if new_peer.locks.is_deleted(key)]
        if marked:
            self._report.add(
                STATUS, f"a split of {peer.region} left a deleted mark on {show_key(marked[0])}"
            )

    def locks_proposed(self, peer: Peer, locks: Sequence[tuple[bytes, Lock]], cause: str) -> None:
        """Looks whether a transfer's locks were proposed behind a merge's fence."""
        if cause == "transfer" and peer.merge is not None:
            self._report.add(FENCE, f"{len(locks)} locks were proposed although {peer} merges")

    def transfer_proposed(self, peer: Peer) -> None:
        """Looks whether a transfer was proposed behind a merge's fence."""
        if peer.merge is not None:
            self._report.add(FENCE, f"TransferLeader was proposed although {peer} merges")


def _is_merging(peer: Peer) -> bool:
    """Returns whether the region's PrepareMerge has been proposed, and not taken back."""
    if peer.merge is not None and peer.merge.commit:
        return True
    return any(isinstance(earlier.admin, PrepareMerge) for earlier in peer.proposed_admin)


def compare_sizes(report: Report, cluster: Cluster) -> None:
    """Reports tables whose sizes are wrong, or that should be empty."""
    for store_id, store in cluster.stores.items():
        total = 0
        for peer in store.peers.values():
            table = peer.locks
            total += table.memory_size
            size = sum(lock.sizes.memory_bytes for lock in table.map.values())
            if size != table.memory_size:
                report.add(
                    BOOKS, f"{peer.region} on store {store_id} holds {size} B and says {table}"
                )
            if table.map and peer.raft.role is not LEADER:
                report.add(BOOKS, f"store {store_id} does not lead {peer.region}, but has {table}")
        if total != store.ctx.instance.used_bytes:
            report.add(
                BOOKS,
                f"store {store_id}: tables sum to {total} B, not {store.ctx.instance.used_bytes}",
            )
