"""Percolator and Mvcc against a dumb twin, with planted mistakes that the twin must notice."""

import pytest
from hypothesis import given, settings

from sim.protocol.mvcc import Mvcc, Write
from sim.protocol.write_batch import WriteBatch
from tests.protocol.mutants import must_be_caught
from tests.protocol.percolator_steps import (
    STEPS,
    RealRegion,
    Step,
    flatten,
    run_twin,
    would_overwrite,
)
from tests.protocol.percolator_twin import FlatRegion


def compare(steps: list[Step], mvcc: Mvcc) -> None:
    """Runs the steps on both; answers and all that is left must agree after each."""
    real, twin = RealRegion(mvcc), FlatRegion()
    for number, step in enumerate(steps):
        if step.name == "commit" and would_overwrite(twin, step):
            continue
        assert real.run(step, number) == run_twin(twin, step, number), step
        flat = flatten(real)
        assert flat.versions == sorted(twin.versions, key=lambda v: (v.key, -v.commit_ts)), step
        assert flat.locks == sorted(twin.locks, key=lambda lock: (lock.place, lock.key)), step


@given(STEPS)
@settings(max_examples=300)
def test_percolator_behaves_like_its_twin(steps: list[Step]) -> None:
    compare(steps, Mvcc(keep_rows=True))


class ForgetsRollbacksUnderCommits(Mvcc):
    """Mutant: a commit that lands on a rollback record wipes it out."""

    def _insert_older(self, key: bytes, head: Write, write: Write) -> None:
        super()._insert_older(key, head, write)
        record = self.find_by_commit_ts(key, write.commit_ts)
        assert record is not None
        record.has_overlapped_rollback = False


class ForgetsWhoCommitted(Mvcc):
    """Mutant: cannot find a transaction's own record once another lies above it."""

    def find_by_start_ts(self, key: bytes, start_ts: int) -> Write | None:
        newest = self.writes.get(key)
        return newest if newest is not None and newest.start_ts == start_ts else None


class LaysLateRecordsOnTop(Mvcc):
    """Mutant: a late rollback becomes the newest record."""

    def _insert_older(self, key: bytes, head: Write, write: Write) -> None:
        write.prev = head
        self.writes[key] = write


class KeepsLocksOfTheCommitted(Mvcc):
    """Mutant: a commit leaves its lock behind."""

    def apply(self, batch: WriteBatch) -> None:
        if batch.write_puts:
            batch.lock_deletes = []
        super().apply(batch)


@pytest.mark.parametrize(
    "mutant",
    [
        ForgetsRollbacksUnderCommits,
        ForgetsWhoCommitted,
        LaysLateRecordsOnTop,
        KeepsLocksOfTheCommitted,
    ],
)
def test_twin_catches(mutant: type[Mvcc]) -> None:
    must_be_caught(STEPS, lambda steps: compare(steps, mutant(keep_rows=True)))
