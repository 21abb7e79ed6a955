"""Percolator: scripts in tests/testdata/percolator, and cases that need more than one line."""

from pathlib import Path

import pytest

from sim.protocol import percolator
from sim.protocol.lock_table import InstanceMemory, PeerPessimisticLocks
from sim.protocol.mvcc import PESSIMISTIC, PUT, Lock, Mvcc
from sim.protocol.percolator import Acquired, KeyIsLocked, Mutation, MvccError, Prewritten
from sim.protocol.write_batch import COMMIT, WriteBatch
from tests import datadriven
from tests.datadriven import parse
from tests.protocol.scripted_region import ScriptedRegion


@pytest.mark.parametrize("path", datadriven.files("percolator"), ids=lambda path: path.stem)
def test_percolator_scripts(path: Path, rewrite: bool) -> None:
    datadriven.run(path, ScriptedRegion().execute, rewrite=rewrite)


def lines(region: ScriptedRegion, *commands: str) -> str:
    """Runs commands and returns what the last one prints."""
    return [region.execute(parse(command)) for command in commands][-1]


def prewrite_k1(region: ScriptedRegion, start_ts: int) -> Prewritten | MvccError:
    return percolator.prewrite(
        region.mvcc,
        region.memory,
        [Mutation(b"k1", PUT, 1)],
        primary=b"k1",
        start_ts=start_ts,
        for_update_ts=start_ts,
        ttl_ms=3000,
    )


def acquire_k1(
    region: ScriptedRegion, start_ts: int, for_update_ts: int = 0
) -> Acquired | MvccError:
    return percolator.acquire_pessimistic_lock(
        region.mvcc,
        region.memory,
        [b"k1"],
        primary=b"k1",
        start_ts=start_ts,
        for_update_ts=for_update_ts or start_ts,
        ttl_ms=3000,
        min_commit_ts=start_ts + 1,
    )


def test_write_in_memory_pessimistic_locks() -> None:
    """tikv/tikv storage/mod.rs test_write_in_memory_pessimistic_locks."""
    region = ScriptedRegion()
    lines(region, "acquire k1 txn=10")
    held = region.memory.get(b"k1")
    assert held is not None
    assert (held.ttl_ms, held.min_commit_ts, held.primary) == (3000, 11, b"k1")
    assert not region.memory.is_deleted(b"k1")
    assert region.mvcc.locks == {}
    assert isinstance(acquire_k1(region, 20), KeyIsLocked)
    lines(region, "prewrite put:k1,v txn=10")
    assert region.memory.map == {}
    assert region.memory.memory_size == 0


def test_disable_in_memory_pessimistic_locks() -> None:
    """tikv/tikv storage/mod.rs test_disable_in_memory_pessimistic_locks."""
    region = ScriptedRegion()
    lines(region, "acquire k1 txn=10 to=cf")
    assert region.memory.map == {}
    assert lines(region, "prewrite put:k1,v txn=10").startswith("prewritten 1\n")


def test_between_proposal_and_apply_the_lock_is_still_there() -> None:
    """Only apply removes a memory lock, so that no reader ever misses both copies."""
    region = ScriptedRegion()
    lines(region, "acquire k1 txn=10")
    prewritten = prewrite_k1(region, 10)
    assert isinstance(prewritten, Prewritten)
    marked = region.memory.mark_replaced(prewritten.batch)
    assert marked == [b"k1"]
    assert isinstance(acquire_k1(region, 20), KeyIsLocked)
    assert region.memory.locks_to_propose(include_deleted=False) == []
    region.mvcc.apply(prewritten.batch)
    region.memory.remove(marked)
    refusal = acquire_k1(region, 20)
    assert isinstance(refusal, KeyIsLocked)
    assert refusal.lock.kind == PUT


def test_a_stale_lock_in_memory_shadows_the_one_in_the_lock_cf() -> None:
    """tikv/tikv issue 19864: a lock that fell back to a proposal leaves an older copy behind."""
    region = ScriptedRegion()
    lines(region, "acquire k1 txn=10")
    newer = acquire_k1(region, 10, for_update_ts=30)
    assert isinstance(newer, Acquired)
    region.mvcc.apply(percolator.lock_batch(newer.locks))
    held = percolator.load_lock(region.mvcc, region.memory, b"k1")
    assert held is not None
    assert held.for_update_ts == 10


def test_keys_of_one_statement_share_a_lock_object() -> None:
    """Ten stock rows are locked, and prewritten with equal sizes, at the cost of two objects."""
    mvcc = Mvcc()
    keys = [b"row%d" % number for number in range(10)]
    granted = percolator.acquire_pessimistic_lock(
        mvcc,
        None,
        [*keys, b"a longer key"],
        primary=b"row0",
        start_ts=10,
        for_update_ts=10,
        ttl_ms=9,
        min_commit_ts=11,
    )
    assert isinstance(granted, Acquired)
    assert len({id(lock) for _, lock in granted.locks}) == 2
    mvcc.apply(percolator.lock_batch(granted.locks))
    changes: list[tuple[bytes, int, str | None]] = [(key, 5, None) for key in keys[:6]]
    changes += [
        (keys[6], 7, None),
        (keys[7], 7, "v"),
        (keys[8], 7, None),
        (b"a longer key", 7, None),
    ]
    written = percolator.prewrite(
        mvcc,
        None,
        [Mutation(key, PUT, size, value) for key, size, value in changes],
        primary=b"row0",
        start_ts=10,
        for_update_ts=10,
        ttl_ms=1,
    )
    assert isinstance(written, Prewritten)
    puts = written.batch.lock_puts
    assert [(lock.value_bytes, lock.value) for _, lock in puts] == [c[1:] for c in changes]
    assert [lock.ttl_ms for _, lock in puts] == [9] * 10
    assert len({id(lock) for _, lock in puts}) == 5
    assert puts[-1][1].sizes is not puts[-2][1].sizes


def test_fair_locking_is_for_single_keys() -> None:
    with pytest.raises(AssertionError, match="single keys"):
        lines(ScriptedRegion(), "acquire k1 k2 txn=10 fair=1")


def test_a_retried_prewrite_checks_index_keys_too() -> None:
    """A resend may come after somebody else's commit; the first prewrite needs no such check."""
    region = ScriptedRegion()
    lines(region, "prewrite put:i1,a txn=20 optimistic=1", "commit i1 txn=20 at=25")
    retry = "prewrite index_put:i1,b txn=15 primary=k1 retry=1"
    assert lines(region, retry) == "PessimisticLockNotFound(key=i1, reason=NonLockKeyConflict)"
    first = "prewrite index_put:i1,b txn=15 primary=k1"
    assert lines(region, first).startswith("prewritten 1")


def test_a_pessimistic_lock_blocks_no_reader() -> None:
    """Losing one is therefore invisible to readers (RFC 77)."""
    region = ScriptedRegion()
    lines(region, "acquire k1 txn=10 to=cf")
    assert lines(region, "get k1 at=99") == "nothing"
    lines(region, "prewrite lock:k1 txn=10")
    assert lines(region, "get k1 at=99") == "nothing"


def test_locks_of_a_transaction_are_found_in_both_places() -> None:
    region = ScriptedRegion()
    lines(region, "acquire k3 txn=10", "acquire k1 txn=10 to=cf", "acquire k2 txn=20")
    assert percolator.locks_of(region.mvcc, region.memory, 10) == [b"k1", b"k3"]
    assert percolator.locks_to_resolve(region.mvcc, 10, commit_ts=0) == [b"k1"]


def test_a_region_splits_and_merges() -> None:
    """Every record goes with its key, the future garbage as well."""
    region = ScriptedRegion()
    for key in ("a", "m"):
        lines(
            region,
            f"prewrite put:{key},1 txn=10 optimistic=1",
            f"commit {key} txn=10 at=15",
            f"prewrite put:{key},2 txn=20 optimistic=1",
            f"commit {key} txn=20 at=25",
            f"acquire {key} txn=30 to=cf",
        )
    left = region.mvcc
    right = left.split_off(b"m")
    assert (list(left.locks), list(left.writes)) == ([b"a"], [b"a"])
    assert (list(right.locks), list(right.writes)) == ([b"m"], [b"m"])
    right.collect_garbage(30)
    newest = right.writes.get(b"m")
    assert newest is not None
    assert newest.prev is None
    left.absorb(right)
    assert sorted(left.locks) == sorted(left.writes) == [b"a", b"m"]
    left.collect_garbage(30)
    newest = left.writes.get(b"a")
    assert newest is not None
    assert newest.prev is None


def test_records_describe_themselves() -> None:
    sizes = Mvcc().lock_format.pessimistic(2, 2)
    lock = Lock(PESSIMISTIC, b"k1", 10, 3000, 20, 21, sizes)
    assert repr(lock) == (
        "Lock(PESSIMISTIC start_ts=10 primary=b'k1' ttl_ms=3000 for_update_ts=20 min_commit_ts=21)"
    )
    region = ScriptedRegion()
    lines(region, "prewrite put:k1,a txn=10 optimistic=1", "commit k1 txn=10 at=20")
    assert repr(region.mvcc.writes.get(b"k1")) == "Write(PUT 10->20)"


def test_an_empty_table_is_marked_and_cleared_for_free() -> None:
    table = PeerPessimisticLocks(InstanceMemory())
    batch = WriteBatch(COMMIT)
    batch.delete_lock(b"a")
    assert table.mark_replaced(batch) == []
    table.remove([b"a"])
    table.clear()
    assert table.memory_size == 0
