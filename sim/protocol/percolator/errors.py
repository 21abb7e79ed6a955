"""Why a command was refused, under TiKV's names.

A refusal is a value that the command returns, not an exception: conflicts are normal.

Source: tikv/tikv src/storage/mvcc/mod.rs (ErrorInner), kvproto kvrpcpb (KeyError, WriteConflict).
"""

from dataclasses import dataclass
from enum import Enum

from sim.protocol.mvcc import Lock


class ConflictReason(Enum):
    """Why a newer version is in the way (kvrpcpb ``WriteConflict.Reason``)."""

    OPTIMISTIC = "Optimistic"
    PESSIMISTIC_RETRY = "PessimisticRetry"
    SELF_ROLLED_BACK = "SelfRolledBack"


class LockNotFoundReason(Enum):
    """Why a prewrite did not find its pessimistic lock."""

    LOCK_TS_MISMATCH = "LockTsMismatch"
    LOCK_MISSING_AMEND_FAIL = "LockMissingAmendFail"
    LOCK_FOR_UPDATE_TS_MISMATCH = "LockForUpdateTsMismatch"
    NON_LOCK_KEY_CONFLICT = "NonLockKeyConflict"


class MvccError:
    """Base class of all refusals."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class KeyIsLocked(MvccError):
    """Another transaction holds the lock; ``resolve_now``: do not wait for its TTL to end."""

    key: bytes
    lock: Lock
    resolve_now: bool = False


@dataclass(frozen=True, slots=True)
class WriteConflict(MvccError):
    """A version newer than the command may overlook has been committed."""

    key: bytes
    start_ts: int
    conflict_start_ts: int
    conflict_commit_ts: int
    reason: ConflictReason


@dataclass(frozen=True, slots=True)
class PessimisticLockNotFound(MvccError):
    """The pessimistic lock is lost, and prewrite cannot do without it."""

    key: bytes
    reason: LockNotFoundReason


@dataclass(frozen=True, slots=True)
class PessimisticLockRolledBack(MvccError):
    """The transaction has been rolled back on this key already."""

    key: bytes
    start_ts: int


@dataclass(frozen=True, slots=True)
class LockTypeNotMatch(MvccError):
    """The transaction's lock is there, but prewritten instead of pessimistic, or the reverse."""

    key: bytes
    start_ts: int
    pessimistic: bool


@dataclass(frozen=True, slots=True)
class AlreadyExist(MvccError):
    """A row that must not exist does."""

    key: bytes
    existing_start_ts: int


@dataclass(frozen=True, slots=True)
class TxnLockNotFound(MvccError):
    """The lock to commit is gone, and its transaction is not committed on the key."""

    key: bytes
    start_ts: int
    commit_ts: int


@dataclass(frozen=True, slots=True)
class InvalidTxnTso(MvccError):
    """The commit_ts is not later than the start_ts."""

    start_ts: int
    commit_ts: int


@dataclass(frozen=True, slots=True)
class CommitTsExpired(MvccError):
    """The commit_ts is below the lock's min_commit_ts, which readers rely on."""

    key: bytes
    start_ts: int
    commit_ts: int
    min_commit_ts: int


@dataclass(frozen=True, slots=True)
class TxnNotFound(MvccError):
    """Neither lock nor record of the transaction is on the key."""

    key: bytes
    start_ts: int


@dataclass(frozen=True, slots=True)
class AlreadyCommitted(MvccError):
    """The transaction to roll back is committed (TiKV: ``Committed``)."""

    key: bytes
    start_ts: int
    commit_ts: int


@dataclass(frozen=True, slots=True)
class PrimaryMismatch(MvccError):
    """The lock on the supposed primary names another key as its primary."""

    key: bytes
    lock: Lock
