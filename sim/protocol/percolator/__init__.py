"""Percolator's commands, as TiKV carries them out on one region.

A command reads (the table in memory first, then the lock CF, then the write CF), changes nothing,
and returns either what to write or why it refuses. The driver holds the latches of the keys from
before the command until its batch is applied, so what the command has read stays true.

Source: tikv/tikv src/storage/txn/{actions,commands}.
"""

from sim.protocol.percolator.acquire import Acquired, acquire_pessimistic_lock, lock_batch
from sim.protocol.percolator.commit import Committed, commit
from sim.protocol.percolator.errors import (
    AlreadyCommitted,
    AlreadyExist,
    CommitTsExpired,
    ConflictReason,
    KeyIsLocked,
    LockNotFoundReason,
    LockTypeNotMatch,
    MvccError,
    PessimisticLockNotFound,
    PrimaryMismatch,
    TxnNotFound,
    WriteConflict,
)
from sim.protocol.percolator.prewrite import Mutation, Prewritten, prewrite
from sim.protocol.percolator.read import (
    ScannedLocks,
    load_lock,
    lock_blocking_keys,
    lock_blocking_ranges,
    scan_locks,
    visible_version,
)
from sim.protocol.percolator.rollback import (
    RolledBack,
    cleanup,
    pessimistic_rollback,
    rollback,
)
from sim.protocol.percolator.status import (
    Beat,
    SecondaryLocks,
    TxnAction,
    TxnStatus,
    check_secondary_locks,
    check_txn_status,
    locks_of,
    locks_to_resolve,
    resolve_lock,
    txn_heart_beat,
)

__all__ = [
    "Acquired",
    "AlreadyCommitted",
    "AlreadyExist",
    "Beat",
    "CommitTsExpired",
    "Committed",
    "ConflictReason",
    "KeyIsLocked",
    "LockNotFoundReason",
    "LockTypeNotMatch",
    "Mutation",
    "MvccError",
    "PessimisticLockNotFound",
    "Prewritten",
    "PrimaryMismatch",
    "RolledBack",
    "ScannedLocks",
    "SecondaryLocks",
    "TxnAction",
    "TxnNotFound",
    "TxnStatus",
    "WriteConflict",
    "acquire_pessimistic_lock",
    "check_secondary_locks",
    "check_txn_status",
    "cleanup",
    "commit",
    "load_lock",
    "lock_batch",
    "lock_blocking_keys",
    "lock_blocking_ranges",
    "locks_of",
    "locks_to_resolve",
    "pessimistic_rollback",
    "prewrite",
    "resolve_lock",
    "rollback",
    "scan_locks",
    "txn_heart_beat",
    "visible_version",
]
