"""Coverage marks: a name for every branch of lock migration, fallback and region change.

The model hits a mark when it takes the branch; a mark that no run of the swarm hits is a branch
that has not been tested. To hit a name that is not here is an error.

Source of the idea: FoundationDB's TEST macro (flow/CodeProbe).
"""

from typing import Final

MARKS: Final[dict[str, str]] = {
    "fallback.status": "an in-memory lock falls back: the table is closed",
    "fallback.term": "an in-memory lock falls back: the table is of another term",
    "fallback.version": "an in-memory lock falls back: the table is of another region version",
    "fallback.full": "an in-memory lock falls back: a size limit is reached",
    "snapshot.not_leader": "a request finds a replica that does not lead",
    "snapshot.epoch": "a request finds another region version than its client's",
    "snapshot.stale_term": "a resumed request finds its leader two terms later",
    "snapshot.read_index": "a leader without a lease asks a quorum before it serves",
    "snapshot.not_ready": "a leader without a lease serves nothing: it splits or merges",
    "propose.stale_term": "a command's term is over when it is to be proposed",
    "propose.epoch": "a command's region version is over when it is to be proposed",
    "propose.conflict": "a command waits for a split or merge under way and then fails",
    "propose.transferring": "a command is refused while leadership is handed over",
    "propose.fence": "a command is refused behind a merge's fence",
    "propose.disk_full": "something is not proposed: the leader's disk is full",
    "propose.majority_full": "something is not proposed: the disks of a majority are full",
    "apply.stale_epoch": "an entry is skipped: its region version is over when it is applied",
    "log.truncated": "a proposal is cut off by a new leader's log",
    "step_down.locks_dropped": "a leader steps down with locks in memory",
    "crash.locks_dropped": "a store dies with locks in memory",
    "transfer.rejected_lag": "a transfer is refused: the target's log lags",
    "transfer.empty_table": "leadership is handed over without locks to propose",
    "transfer.locks_proposed": "locks are proposed before leadership is handed over",
    "transfer.all_deleted": "all locks of the table are marked deleted at a transfer",
    "transfer.repeated": "a transfer is started again while the table is closed",
    "transfer.late_ack": "the target's answer comes after the table was opened again",
    "transfer.reactivated": "the table is opened again after a transfer that failed",
    "transfer.too_large": "the locks do not fit into an entry and are lost by the transfer",
    "transfer.met_split": "a split or merge under way keeps a transfer's locks from being proposed",
    "transfer.met_merge": "a merge under way keeps a transfer from being proposed",
    "transfer.aborted": "Raft gives up handing over after an election timeout",
    "transfer.disk_full": "a leader whose disk is full asks a follower with room to take over",
    "transfer.target_full": "a transfer's target refuses: its disk is full, its leader's is not",
    "split.locks_moved": "a split moves locks to a new region's table",
    "split.deleted_moved": "a split moves a lock that was marked deleted",
    "split.follower": "a follower carries out a split",
    "merge.refused_gap": "a merge is refused: a replica's log lags",
    "merge.refused_status": "a merge is refused: the table is closed",
    "merge.fenced": "a merge waits behind its fence for what was proposed before",
    "merge.locks_proposed": "a merge proposes the locks of its source",
    "merge.deleted_proposed": "a merge proposes a lock that was marked deleted",
    "merge.empty_table": "a merge finds no locks in memory",
    "merge.propose_failed": "a merge's locks could not be proposed; the table is opened again",
    "merge.committed": "a merge has been carried out",
    "merge.catch_up": "a target brings the entries that the source's replica had not yet",
    "merge.rolled_back": "a merge is taken back; the source's table is opened again",
    "detector.forgets": "the deadlock detector loses its table, and there are waits in it",
    "gate.closed": "in-memory locks are on but the cluster's version does not allow them",
}
"""What has happened, by the mark's name."""
