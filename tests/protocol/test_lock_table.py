"""The table in memory: scripts, TiKV's own unit cases, and a dict with a list as dumb twin."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.protocol.encoding import LockFormat, lock_format
from sim.protocol.keys import row_key
from sim.protocol.lock_table import InstanceMemory, LocksStatus, PeerPessimisticLocks
from sim.protocol.mvcc import PESSIMISTIC, Lock
from sim.protocol.write_batch import COMMIT, WriteBatch
from tests import datadriven
from tests.datadriven import Command
from tests.protocol.mutants import must_be_caught

V6, V8 = lock_format((6, 0, 0)), lock_format((8, 5, 0))


def lock_on(
    key: bytes, primary: bytes = b"p", start_ts: int = 10, records: LockFormat = V8
) -> Lock:
    """Returns a pessimistic lock as TiKV's tests make it."""
    sizes = records.pessimistic(len(key), len(primary))
    return Lock(PESSIMISTIC, primary, start_ts, 3000, 20, 30, sizes)


def deleting(keys: Iterable[bytes]) -> WriteBatch:
    """Returns a proposal that deletes the locks of ``keys``."""
    batch = WriteBatch(COMMIT)
    for key in keys:
        batch.delete_lock(key)
    return batch


class TableScript:
    """Runs lines such as ``insert a b txn=10`` on the table of one peer."""

    def __init__(self) -> None:
        self.table = PeerPessimisticLocks(InstanceMemory(), 5 * 90)

    def execute(self, command: Command) -> str:
        """insert|mark|remove KEY... | status STATUS | may_write term= version= | activate ..."""
        table, keys = self.table, [word.encode() for word in command.words]
        term, version = command.number("term"), command.number("version")
        match command.name:
            case "insert":
                locks = [(key, lock_on(key, start_ts=command.number("txn"))) for key in keys]
                said = "inserted" if table.insert(locks) else "full"
            case "mark":
                said = f"marked {len(table.mark_replaced(deleting(keys)))}"
            case "remove":
                said = "removed"
                table.remove(keys)
            case "propose":
                proposed = table.locks_to_propose(include_deleted="all" in command.options)
                said = f"propose {[key.decode() for key, _ in proposed]}"
            case "split":
                first, at = command.words
                tables = table.group_by_regions([b"", at.encode()], int(first == "right"))
                other = tables[int(first == "left")]
                said = f"other region: {other}"
            case _:
                said = self._change(command, term, version)
        return f"{said}\n  {table}"

    def _change(self, command: Command, term: int, version: int) -> str:
        match command.name:
            case "may_write":
                reason = self.table.refusal(term, version)
                return f"no: {reason}" if reason else "yes"
            case "activate":
                self.table.activate(term, version)
            case "deactivate":
                self.table.deactivate(term, version)
            case "status":
                self.table.status = LocksStatus(command.words[0])
            case _:
                raise AssertionError(command.name)
        return command.name


@pytest.mark.parametrize("path", datadriven.files("lock_table"), ids=lambda path: path.stem)
def test_scripts(path: Path, rewrite: bool) -> None:
    datadriven.run(path, TableScript().execute, rewrite=rewrite)


def test_memory_size() -> None:
    """tikv/tikv txn_ext.rs test_memory_size: every way in and out, on two peers of one store."""
    instance = InstanceMemory()
    first, second = PeerPessimisticLocks(instance), PeerPessimisticLocks(instance)
    one = lock_on(b"k1").sizes.memory_bytes
    assert first.insert([(b"k1", lock_on(b"k1")), (b"k2", lock_on(b"k2"))])
    assert second.insert([(b"k1", lock_on(b"k1"))])
    assert (first.memory_size, instance.used_bytes) == (2 * one, 3 * one)
    assert first.insert([(b"k1", lock_on(b"k1", start_ts=11))]), "overwriting is free"
    assert (first.memory_size, instance.used_bytes) == (2 * one, 3 * one)
    first.remove([b"k1", b"absent"])
    assert (first.memory_size, instance.used_bytes) == (one, 2 * one)
    second.clear()
    assert (second.memory_size, instance.used_bytes) == (0, one)
    first.clear()
    assert instance.used_bytes == 0


def test_insert_checking_memory_limit() -> None:
    """tikv/tikv txn_ext.rs test_insert_checking_memory_limit: peer limit, then store limit."""
    instance = InstanceMemory()
    table = PeerPessimisticLocks(instance)
    assert table.insert([(b"k1", lock_on(b"k1", bytes(512_000)))])
    assert not table.insert([(b"k2", lock_on(b"k2", bytes(32_000)))])
    assert b"k2" not in table.map
    instance.used_bytes = 101 * 1024 * 1024
    empty = PeerPessimisticLocks(instance)
    assert not empty.insert([(b"k", lock_on(b"k"))])


def test_a_command_is_inserted_whole_or_not_at_all() -> None:
    table = PeerPessimisticLocks(InstanceMemory(), 150)
    assert not table.insert([(b"a", lock_on(b"a")), (b"b", lock_on(b"b"))])
    assert table.map == {}
    assert table.memory_size == table.instance.used_bytes == 0


def test_group_locks_by_regions() -> None:
    """tikv/tikv txn_ext.rs test_group_locks_by_regions: moved locks are no longer deleted."""
    table = PeerPessimisticLocks(InstanceMemory())
    table.insert([(key, lock_on(key)) for key in (b"a", b"c", b"e", b"g", b"i")])
    table.mark_replaced(deleting([b"a", b"e", b"i"]))
    whole = table.memory_size
    tables = table.group_by_regions([b"", b"b", b"d", b"f", b"h"], 4)
    assert [list(part.map) for part in tables] == [[b"a"], [b"c"], [b"e"], [b"g"], [b"i"]]
    assert [part.is_deleted(key) for part in tables for key in part.map] == [False] * 4 + [True]
    assert tables[4] is table
    assert sum(part.memory_size for part in tables) == whole == table.instance.used_bytes
    assert not table.is_deleted(b"a")


@pytest.mark.parametrize(("records", "accounted", "full"), [(V6, 94, 5577), (V8, 126, 4161)])
def test_a_row_lock_is_accounted_as_in_tikv(records: LockFormat, accounted: int, full: int) -> None:
    """Key 27 B + primary 19 B + struct: so many row locks fit into one region's 512 KiB."""
    key = row_key(5, 1)
    assert records.pessimistic(len(key), len(key)).memory_bytes == accounted
    table = PeerPessimisticLocks(InstanceMemory())
    keys = [row_key(5, handle) for handle in range(full + 1)]
    inserted = [table.insert([(k, lock_on(k, key, records=records))]) for k in keys]
    assert inserted == [True] * full + [False]


def test_mark_replaced_marks_what_a_proposal_overwrites_or_deletes() -> None:
    table = PeerPessimisticLocks(InstanceMemory())
    batch = WriteBatch(COMMIT)
    batch.put_lock(b"a", lock_on(b"a"))
    batch.delete_lock(b"b")
    batch.delete_lock(b"absent")
    assert table.mark_replaced(batch) == []
    table.insert([(key, lock_on(key)) for key in (b"a", b"b", b"c")])
    assert table.mark_replaced(batch) == [b"a", b"b"]
    assert [table.is_deleted(key) for key in (b"a", b"b", b"c")] == [True, True, False]
    assert table.get(b"a") is not None, "a deleted lock is still read"


KEYS = st.lists(st.sampled_from([b"a", b"bb", b"c" * 9]), min_size=1, max_size=3, unique=True)
NAMES = ["insert"] * 3 + ["mark", "remove", "clear"]
STEPS = st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 1), KEYS), max_size=30)
Steps = list[tuple[str, int, list[bytes]]]


class Twin:
    """A table as a dict of [lock, deleted]; every size is summed up from scratch."""

    def __init__(self) -> None:
        self.locks: dict[bytes, list[object]] = {}

    def bytes_with(self, keys: list[bytes]) -> int:
        everything = sorted({*self.locks, *keys})
        return sum((len(key) // 8 + 1) * 9 + 1 + 80 for key in everything)


def compare(steps: Steps, tables: list[PeerPessimisticLocks]) -> None:
    """Runs the steps on two peers of one store that has room for five short locks."""
    twins = [Twin(), Twin()]
    for number, (name, peer, keys) in enumerate(steps):
        table, twin, other = tables[peer], twins[peer], twins[1 - peer]
        if name == "insert":
            locks = [(key, lock_on(key, start_ts=number)) for key in keys]
            size = twin.bytes_with(keys)
            growth = size - twin.bytes_with([])
            total = twin.bytes_with([]) + other.bytes_with([]) + growth
            fits = size <= 280 and total <= 400
            assert table.insert(locks) == fits
            twin.locks |= {key: [lock, False] for key, lock in locks} if fits else {}
        elif name == "mark":
            present = [key for key in keys if key in twin.locks]
            assert table.mark_replaced(deleting(keys)) == present
            for key in present:
                twin.locks[key][1] = True
        elif name == "remove":
            table.remove(keys)
            twin.locks = {key: lock for key, lock in twin.locks.items() if key not in keys}
        else:
            table.clear()
            twin.locks = {}
        check_equal(tables, twins)


def check_equal(tables: list[PeerPessimisticLocks], twins: list[Twin]) -> None:
    for table, twin in zip(tables, twins, strict=True):
        assert {key: [lock, table.is_deleted(key)] for key, lock in table.map.items()} == twin.locks
        assert table.memory_size == twin.bytes_with([])
        undeleted = sorted(key for key, (_, deleted) in twin.locks.items() if not deleted)
        assert [key for key, _ in table.locks_to_propose(include_deleted=False)] == undeleted
        assert len(table.locks_to_propose(include_deleted=True)) == len(twin.locks)
    assert tables[0].instance.used_bytes == sum(twin.bytes_with([]) for twin in twins)


def two_peers(table: type[PeerPessimisticLocks]) -> list[PeerPessimisticLocks]:
    instance = InstanceMemory(400)
    return [table(instance, 280), table(instance, 280)]


@given(STEPS)
def test_tables_behave_like_a_dict(steps: Steps) -> None:
    compare(steps, two_peers(PeerPessimisticLocks))


class LeaksMemory(PeerPessimisticLocks):
    """Mutant: charges an overwrite again."""

    def insert(self, locks: list[tuple[bytes, Lock]]) -> bool:  # type: ignore[override]
        held = [key for key, _ in locks if key in self.map]
        done = super().insert(locks)
        self.memory_size += len(held) if done else 0
        return done


class StaysDeleted(PeerPessimisticLocks):
    """Mutant: an overwrite does not clear the deleted mark."""

    def insert(self, locks: list[tuple[bytes, Lock]]) -> bool:  # type: ignore[override]
        marks = set(self._deleted)
        done = super().insert(locks)
        self._deleted = marks
        return done


class IgnoresTheStore(PeerPessimisticLocks):
    """Mutant: knows only its own limit."""

    def insert(self, locks: list[tuple[bytes, Lock]]) -> bool:  # type: ignore[override]
        self.instance.limit_bytes = 1 << 40
        return super().insert(locks)


@pytest.mark.parametrize("mutant", [LeaksMemory, StaysDeleted, IgnoresTheStore])
def test_twin_catches(mutant: type[PeerPessimisticLocks]) -> None:
    must_be_caught(STEPS, lambda steps: compare(steps, two_peers(mutant)))
