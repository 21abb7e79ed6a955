"""Collecting garbage changes nothing that a running transaction can see."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.protocol import percolator
from sim.protocol.mvcc import INSERT, PUT, Mvcc
from tests.protocol.mutants import must_be_caught
from tests.protocol.percolator_steps import (
    NAMES,
    RealRegion,
    Step,
    flatten,
    steps_of,
    would_overwrite,
)

SAFE_TXN = 3
SAFE_TS = SAFE_TXN * 10
HISTORIES = st.tuples(
    steps_of(["prewrite"] * 3 + ["cleanup", "rollback", "acquire"], laters=(39, 40, 45)),
    steps_of(NAMES, txns=(SAFE_TXN, 5)),
)
History = tuple[list[Step], list[Step]]


def compare(history: History, cleaned: Mvcc) -> None:
    """Runs past and future twice, once with garbage collected after every step of the future.

    In between, the transactions below SAFE_TS end: their locks are rolled back. An INSERT asks for
    rows without payload, which only ``keep_rows`` remembers.
    """
    past, future = history
    plain, swept = RealRegion(Mvcc(keep_rows=True)), RealRegion(cleaned)
    for number, step in enumerate(past):
        assert plain.run(step, number) == swept.run(step, number)
    end_old_transactions(plain)
    end_old_transactions(swept)
    for number, step in enumerate(future, start=len(past)):
        swept.mvcc.collect_garbage(SAFE_TS)
        if step.op == INSERT and not cleaned.keep_rows:
            continue
        if step.name == "commit" and would_overwrite(flatten(plain), step):
            continue
        assert plain.run(step, number) == swept.run(step, number), step
        assert flatten(plain).locks == flatten(swept).locks


def end_old_transactions(region: RealRegion) -> None:
    for start_ts in range(10, SAFE_TS, 10):
        keys = percolator.locks_of(region.mvcc, region.memory, start_ts)
        result = percolator.rollback(region.mvcc, region.memory, keys, start_ts)
        assert isinstance(result, percolator.RolledBack)
        region.apply(result.batch)


@pytest.mark.parametrize("keep_rows", [True, False])
@given(history=HISTORIES)
@settings(max_examples=150)
def test_garbage_is_what_nobody_can_see(
    keep_rows: bool,
    history: History,
) -> None:
    compare(history, Mvcc(keep_rows=keep_rows))


class CollectsTooMuch(Mvcc):
    """Mutant: takes the version at safe_ts itself for garbage."""

    def collect_garbage(self, safe_ts: int) -> None:
        super().collect_garbage(safe_ts + 1)


class CutsBelowRollbacks(Mvcc):
    """Mutant: takes what lies below any old record for garbage."""

    def collect_garbage(self, safe_ts: int) -> None:
        for _, write in self.garbage:
            if write.commit_ts < safe_ts:
                write.prev = None
        super().collect_garbage(safe_ts)


@pytest.mark.parametrize("mutant", [CollectsTooMuch, CutsBelowRollbacks])
def test_twin_catches(mutant: type[Mvcc]) -> None:
    must_be_caught(HISTORIES, lambda history: compare(history, mutant()))


def test_memory_stays_flat() -> None:
    """A hot row and ever new rows, swept behind the oldest transaction, leave few records."""
    region = RealRegion(Mvcc())
    for txn in range(1, 500):
        start_ts = txn * 10
        keys = (b"hot", b"row%d" % txn)
        mutations = [percolator.Mutation(key, PUT, 10, None, False) for key in keys]
        result = percolator.prewrite(
            region.mvcc,
            None,
            mutations,
            primary=b"hot",
            start_ts=start_ts,
            for_update_ts=0,
            ttl_ms=1,
            one_pc_commit_ts=0,
            pessimistic=False,
        )
        assert isinstance(result, percolator.Prewritten)
        region.apply(result.batch)
        region.mvcc.collect_garbage(start_ts - 20)
    chain, version = 0, region.mvcc.writes.get(b"hot")
    while version is not None:
        chain, version = chain + 1, version.prev
    assert len(region.mvcc.writes) <= 4
    assert chain <= 4
