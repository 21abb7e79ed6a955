"""A dumb region: flat lists of locks and versions, searched from end to end, no sizes, no chains.

It says in the plainest way what each percolator command must answer and leave behind; the real one
is compared with it step by step.
"""

from dataclasses import dataclass, field, replace

from sim.protocol.mvcc import DELETE, INSERT, LOCK, PESSIMISTIC, PUT, ROLLBACK
from sim.protocol.percolator import Mutation

Answer = tuple[object, ...]


@dataclass(frozen=True)
class FlatLock:
    """A lock; ``place`` is ``memory`` or ``cf``."""

    key: bytes
    kind: int
    start_ts: int
    for_update_ts: int
    min_commit_ts: int
    ttl_ms: int
    value: object = None
    is_async: bool = False
    place: str = "cf"


@dataclass(frozen=True)
class FlatVersion:
    """A version or a rollback record."""

    key: bytes
    kind: int
    start_ts: int
    commit_ts: int
    value: object = None
    rolled_back_too: bool = False


@dataclass
class FlatRegion:
    """All locks and versions of a region."""

    locks: list[FlatLock] = field(default_factory=list)
    versions: list[FlatVersion] = field(default_factory=list)

    def lock_of(self, key: bytes) -> FlatLock | None:
        """Returns the lock in memory, else the one in the lock CF."""
        found = sorted(
            (lock for lock in self.locks if lock.key == key), key=lambda lock: lock.place
        )
        return found[-1] if found else None

    def versions_of(self, key: bytes) -> list[FlatVersion]:
        """Returns the records of a key, newest first."""
        own = [version for version in self.versions if version.key == key]
        return sorted(own, key=lambda version: -version.commit_ts)

    def newest_ts(self, key: bytes) -> int:
        return max(
            (version.commit_ts for version in self.versions if version.key == key), default=0
        )

    def newest_data(self, key: bytes, at_ts: int = 1 << 64) -> FlatVersion | None:
        versions = (v for v in self.versions_of(key) if v.commit_ts <= at_ts)
        data = [v for v in versions if v.kind in (PUT, DELETE)]
        return data[0] if data else None

    def record_of(self, key: bytes, start_ts: int) -> FlatVersion | None:
        found = [v for v in self.versions_of(key) if v.start_ts == start_ts]
        return found[0] if found else None

    def is_rolled_back(self, key: bytes, start_ts: int) -> bool:
        return any(
            v.commit_ts == start_ts and (v.kind == ROLLBACK or v.rolled_back_too)
            for v in self.versions_of(key)
        )

    def put_lock(self, lock: FlatLock) -> None:
        """Writes a lock; one that enters the lock CF removes the copy in memory."""
        self.locks = [
            old
            for old in self.locks
            if old.key != lock.key or (lock.place == "memory" and old.place == "cf")
        ]
        self.locks.append(lock)

    def delete_lock(self, key: bytes) -> None:
        self.locks = [lock for lock in self.locks if lock.key != key]

    def put_version(self, version: FlatVersion) -> None:
        """Writes a record over whatever has the same commit_ts, remembering a rollback there."""
        there = [v for v in self.versions_of(version.key) if v.commit_ts == version.commit_ts]
        self.versions = [v for v in self.versions if v not in there]
        if version.kind != ROLLBACK and any(v.kind == ROLLBACK for v in there):
            version = replace(version, rolled_back_too=True)
        self.versions.append(version)

    def put_rollback(self, key: bytes, start_ts: int, *, protect: bool) -> None:
        at = [v for v in self.versions_of(key) if v.commit_ts == start_ts]
        if not at:
            self.put_version(FlatVersion(key, ROLLBACK, start_ts, start_ts))
        elif protect and at[0].kind != ROLLBACK:
            self.put_version(replace(at[0], rolled_back_too=True))

    def acquire(  # noqa: C901, PLR0912 - the rules in their order
        self,
        keys: list[bytes],
        start_ts: int,
        for_update_ts: int,
        place: str,
        *,
        fair: bool,
        insert: bool,
    ) -> Answer:
        """All keys or none, the first obstacle is the answer."""
        granted: list[FlatLock] = []
        values: list[object] = []
        conflict_ts, requested_ts = 0, for_update_ts
        for key in keys:
            held = self.lock_of(key)
            if held and held.start_ts != start_ts:
                return "KeyIsLocked", key
            if held and held.kind != PESSIMISTIC:
                return "LockTypeNotMatch", key
            newest_ts, data = self.newest_ts(key), self.newest_data(key)
            if not held:
                if newest_ts > for_update_ts and not fair:
                    return "WriteConflict", key, newest_ts
                if self.is_rolled_back(key, start_ts):
                    return "PessimisticLockRolledBack", key
                if newest_ts > for_update_ts:
                    conflict_ts = for_update_ts = newest_ts
            else:
                if fair and held.for_update_ts > for_update_ts:
                    conflict_ts = for_update_ts = held.for_update_ts
                data = self.newest_data(key, for_update_ts)
                newest_ts = data.commit_ts if data else 0
            if insert and data and data.kind == PUT:
                if newest_ts > requested_ts:
                    return "WriteConflict", key, newest_ts
                return "AlreadyExist", key
            values.append(data.value if data else None)
            if not held or for_update_ts > held.for_update_ts:
                lock = FlatLock(key, PESSIMISTIC, start_ts, for_update_ts, start_ts + 1, 3000)
                granted.append(replace(lock, place=place))
        for lock in granted:
            self.put_lock(lock)
        return "Acquired", [lock.key for lock in granted], values, conflict_ts

    def obstacle(
        self, mutation: Mutation, start_ts: int, for_update_ts: int, *, pessimistic: bool
    ) -> Answer | None:
        """Returns why a prewrite cannot have the key."""
        key, held = mutation.key, self.lock_of(mutation.key)
        must_hold = pessimistic and mutation.pessimistic_check
        if held and held.start_ts != start_ts:
            return ("LockTsMismatch" if must_hold else "KeyIsLocked"), key
        if held:
            wrong = held.kind == PESSIMISTIC and not pessimistic
            return ("LockTypeNotMatch", key) if wrong else None
        newest_ts, data = self.newest_ts(key), self.newest_data(key)
        if must_hold:
            return ("LockMissingAmendFail", key) if newest_ts >= start_ts else None
        if pessimistic:
            return None
        if newest_ts == start_ts and self.is_rolled_back(key, start_ts):
            return "WriteConflict", key, newest_ts
        if newest_ts > start_ts:
            return "WriteConflict", key, newest_ts
        exists = data is not None and data.kind == PUT
        return ("AlreadyExist", key) if mutation.op == INSERT and exists else None

    def prewrite(  # noqa: C901, PLR0912 - the rules in their order
        self,
        mutations: list[Mutation],
        start_ts: int,
        for_update_ts: int,
        max_ts: int,
        *,
        pessimistic: bool,
        fast: str,
    ) -> Answer:
        """``fast`` is ``async``, ``one_pc`` or nothing."""
        locked: Answer | None = None
        for mutation in mutations:
            obstacle = self.obstacle(mutation, start_ts, for_update_ts, pessimistic=pessimistic)
            if obstacle:
                record = self.record_of(mutation.key, start_ts)
                resent = record and record.kind != ROLLBACK
                if record and resent and obstacle[0] not in ("AlreadyExist", "LockTypeNotMatch"):
                    return "Prewritten", record.commit_ts, record.commit_ts, 0
                if obstacle[0] != "KeyIsLocked":
                    return obstacle
                locked = locked or obstacle
        if locked:
            return locked
        promise = max(start_ts, for_update_ts, max_ts) + 1
        locks, amended, largest_ts = [], 0, 0
        for mutation in mutations:
            held = self.lock_of(mutation.key)
            amended += pessimistic and mutation.pessimistic_check and not held
            if held and held.kind != PESSIMISTIC:
                if fast != "async" or not held.is_async:
                    fast = ""  # For this key and those after it.
                largest_ts = max(largest_ts, held.min_commit_ts)
                continue
            kind = PUT if mutation.op == INSERT else mutation.op
            floor_ts = max(promise, start_ts + 1) if fast else start_ts + 1
            min_commit_ts = max(floor_ts, held.min_commit_ts if held else 0)
            largest_ts = max(largest_ts, min_commit_ts)
            ttl_ms = max(2000, held.ttl_ms if held else 0)
            lock = FlatLock(mutation.key, kind, start_ts, for_update_ts, min_commit_ts, ttl_ms)
            locks.append(replace(lock, value=mutation.value, is_async=fast == "async"))
        done_ts = largest_ts if fast == "one_pc" and locks else 0
        for lock in locks:
            if done_ts:
                self.delete_lock(lock.key)
                version = FlatVersion(lock.key, lock.kind, start_ts, done_ts, lock.value)
                self.put_version(version)
            else:
                self.put_lock(lock)
        return "Prewritten", largest_ts if fast else 0, done_ts, amended

    def commit(self, keys: list[bytes], start_ts: int, commit_ts: int) -> Answer:
        for key in keys:
            held = self.lock_of(key)
            if held and held.start_ts == start_ts:
                if commit_ts < held.min_commit_ts:
                    return "CommitTsExpired", key
                continue
            record = self.record_of(key, start_ts)
            if not record or record.kind == ROLLBACK:
                return "TxnLockNotFound", key
        for key in keys:
            held = self.lock_of(key)
            if held and held.start_ts == start_ts:
                self.delete_lock(key)
                if held.kind != PESSIMISTIC:
                    version = FlatVersion(key, held.kind, start_ts, commit_ts, held.value)
                    self.put_version(version)
        return ("Committed",)

    def pessimistic_rollback(self, keys: list[bytes], start_ts: int, for_update_ts: int) -> Answer:
        for key in keys:
            held = self.lock_of(key)
            mine = held and held.start_ts == start_ts and held.kind == PESSIMISTIC
            if held and mine and held.for_update_ts <= for_update_ts:
                self.delete_lock(key)
        return ("RolledBack",)

    def rollback(self, keys: list[bytes], start_ts: int, *, protect: bool = False) -> Answer:
        for key in keys:
            held, record = self.lock_of(key), self.record_of(key, start_ts)
            mine = held and held.start_ts == start_ts
            if not mine and record and record.kind != ROLLBACK:
                return "AlreadyCommitted", key
        for key in keys:
            held = self.lock_of(key)
            if held and held.start_ts == start_ts:
                self.delete_lock(key)
                self.put_rollback(key, start_ts, protect=key == b"a")
            elif not self.record_of(key, start_ts):
                self.put_rollback(key, start_ts, protect=protect)
        return ("RolledBack",)

    def heartbeat(self, key: bytes, start_ts: int, ttl_ms: int) -> Answer:
        held = self.lock_of(key)
        if not held or held.start_ts != start_ts:
            return "TxnNotFound", key
        if ttl_ms > held.ttl_ms:
            self.put_lock(replace(held, ttl_ms=ttl_ms, place="cf"))
        return "Beat", max(ttl_ms, held.ttl_ms)

    def lose_memory(self) -> Answer:
        self.locks = [lock for lock in self.locks if lock.place != "memory"]
        return ("lost",)

    def get(self, key: bytes, ts: int) -> Answer:
        held = next((lock for lock in self.locks if lock.key == key and lock.place == "cf"), None)
        if held and held.kind in (PUT, DELETE) and max(held.start_ts, held.min_commit_ts) <= ts:
            return "KeyIsLocked", key
        seen = [v for v in self.versions_of(key) if v.commit_ts <= ts and v.kind in (PUT, DELETE)]
        return "seen", seen[0].value if seen and seen[0].kind == PUT else None


__all__ = ["LOCK", "Answer", "FlatLock", "FlatRegion", "FlatVersion"]
