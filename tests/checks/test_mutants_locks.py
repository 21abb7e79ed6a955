"""Planted mistakes about locks and versions: each must be seen, and a sound run must be silent."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from sim.checks import isolation, lock_tables, locks
from sim.checks.checkers import LAWS
from sim.protocol.lock_table import LocksStatus, PeerPessimisticLocks
from sim.protocol.percolator import Committed, acquire
from sim.protocol.raft.log import Entry
from sim.protocol.write_batch import ADMIN
from sim.raftstore.apply import ApplyPool
from sim.raftstore.peer import MigratedLocks, Peer
from sim.simulation import SimulatedUnit
from sim.storage import scheduler
from sim.storage.commands import execute
from sim.storage.request import Kind, KvRequest
from sim.swarm.recipe import Fault, Recipe
from sim.swarm.unit import SwarmUnit, outcome_of
from sim.units import NS_PER_MS
from tests.checks.planted import busy_unit, laws_broken
from tests.scenes import IN_MEMORY, PIPELINED, SYNC


@pytest.mark.parametrize("mode", [IN_MEMORY, PIPELINED, SYNC], ids=["memory", "pipelined", "sync"])
def test_a_sound_run_breaks_nothing(mode: dict[str, object]) -> None:
    unit = busy_unit(mode)
    result = unit.result()
    assert result.transactions > 50
    assert result.checked == 3 + LAWS
    assert result.violations == ()
    assert unit.fates.granted_locks > 500
    assert unit.fates.granted_locks == unit.fates.ended_locks() + len(unit.fates.held)


def plant(monkeypatch: pytest.MonkeyPatch, kind: Kind, command: Any) -> None:
    """Lets every store carry out requests of a kind by ``command``, with the arguments of it."""

    def mutant(request: KvRequest, *rest: Any) -> object:
        return (command if request.kind is kind else execute)(request, *rest)

    monkeypatch.setattr(scheduler, "execute", mutant)


def test_a_lock_request_that_overlooks_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def blind(request: KvRequest, peer: Any, *rest: Any) -> object:
        return execute(request, SimpleNamespace(state=peer.state, locks=None), *rest)  # type: ignore[arg-type]

    plant(monkeypatch, Kind.LOCK, blind)
    unit = busy_unit(IN_MEMORY)
    assert locks.ONE_HOLDER in laws_broken(unit)
    assert unit.recorder.counter("locks_lost", "unexplained").value > 0
    assert unit.recorder.counter("mutual_exclusion_lost", "unexplained").value > 0


def test_a_lock_request_that_overlooks_the_lock_cf(monkeypatch: pytest.MonkeyPatch) -> None:
    def blind(request: KvRequest, peer: Any, *rest: Any) -> object:
        mvcc = peer.state.mvcc
        unlocked = SimpleNamespace(locks={}, writes=mvcc.writes, lock_format=mvcc.lock_format)
        state = SimpleNamespace(mvcc=unlocked)
        return execute(request, SimpleNamespace(state=state, locks=peer.locks), *rest)  # type: ignore[arg-type]

    plant(monkeypatch, Kind.LOCK, blind)
    unit = busy_unit(IN_MEMORY)
    prewritten = [line for line in unit.result().violations if "has prewritten it" in line]
    assert prewritten
    assert all(line.startswith(locks.ONE_HOLDER) for line in prewritten)


def test_a_lock_request_that_overlooks_newer_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acquire, "_version_refusal", lambda *_: None)
    unit = busy_unit(IN_MEMORY)
    assert isolation.LAW in laws_broken(unit)


def test_a_commit_that_writes_the_lock_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(request: KvRequest, peer: Any, *rest: Any) -> object:
        key = request.keys[0]
        lock = peer.state.mvcc.locks.get(key)
        result = execute(request, peer, *rest)
        if isinstance(result, Committed) and lock is not None and lock.start_ts == request.start_ts:
            result.batch.put_lock(key, lock)
        return result

    plant(monkeypatch, Kind.COMMIT, forgetful)
    assert locks.NO_RESURRECTION in laws_broken(busy_unit(SYNC))


def test_a_closed_table_that_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PeerPessimisticLocks, "refusal", lambda *_: None)

    def close_all(unit: SimulatedUnit) -> None:
        for store in unit.cluster.stores.values():
            for peer in store.peers.values():
                peer.locks.status = LocksStatus.TRANSFERRING_LEADER

    unit = busy_unit(IN_MEMORY, at_start=lambda unit: unit.env.at(200 * NS_PER_MS, close_all, unit))
    assert lock_tables.STATUS in laws_broken(unit)


def test_a_table_that_knows_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = PeerPessimisticLocks.insert

    def greedy(table: PeerPessimisticLocks, new: Any) -> bool:
        limit, table.limit_bytes = table.limit_bytes, 1 << 60
        taken = sound(table, new)
        table.limit_bytes = limit
        return taken

    monkeypatch.setattr(PeerPessimisticLocks, "insert", greedy)
    unit = busy_unit(IN_MEMORY | {"in_memory_peer_size_limit_bytes": 400})
    assert lock_tables.LIMITS in laws_broken(unit)


def test_a_table_that_forgets_what_was_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(table: PeerPessimisticLocks, keys: list[bytes]) -> None:
        for key in keys:
            table.map.pop(key, None)

    monkeypatch.setattr(PeerPessimisticLocks, "remove", careless)
    assert lock_tables.BOOKS in laws_broken(busy_unit(IN_MEMORY))


def test_a_lock_that_falls_out_of_the_table() -> None:
    def drop_one(unit: SimulatedUnit) -> None:
        for store in unit.cluster.stores.values():
            for peer in store.peers.values():
                alive = [key for key in peer.locks.map if not peer.locks.is_deleted(key)]
                if alive:
                    peer.locks.remove(alive[:1])
                    return
        raise AssertionError("there is no lock to lose")

    unit = busy_unit(IN_MEMORY, at_end=drop_one)
    (line,) = unit.result().violations
    assert "vanished" in line


def test_a_lock_that_stays_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PeerPessimisticLocks, "remove", lambda *_: None)
    monkeypatch.setattr(PeerPessimisticLocks, "is_deleted", lambda *_: False)
    unit = busy_unit(IN_MEMORY)
    assert any("is still in" in line for line in unit.result().violations)


def transfer(at_ms: int, to_store: int) -> Fault:
    return Fault(at_ns=at_ms * NS_PER_MS, verb="transfer", which=0, where=to_store - 1)


AN_OLD_STORE = Recipe(
    seed=0,
    clients=4,
    busy_ns=400 * NS_PER_MS,
    rows=2,
    transfers=2,
    behaviour="rfc77",
    slow_cpu=5,
    faults=(
        Fault(at_ns=20 * NS_PER_MS, verb="upgrade", which=1, where=0),
        *(transfer(150 + 10 * i, to) for i, to in enumerate((2, 1, 3, 1) * 5)),
    ),
)
"""Store 2 goes back to 5.4, and the leader moves to it and away again with locks in its table."""


def test_migrated_locks_are_lost_on_a_store_that_cannot_read_them() -> None:
    unit = SwarmUnit(AN_OLD_STORE)
    unit.run()
    assert unit.result().violations == ()
    assert unit.recorder.counter("locks_lost", "old_version").value > 0
    assert unit.recorder.counter("locks_lost", "unexplained").value == 0


def test_a_lock_that_ended_where_it_was_not_known_may_be_met_again_elsewhere() -> None:
    """Store 2 leads without the lock, commits over it, and the others have it still."""
    recipe = replace(
        AN_OLD_STORE, seed=481, rows=3, readers=1, slow_cpu=5, one_pc=True, async_commit=True
    )
    assert outcome_of(recipe).violations == ()


def test_a_store_that_overlooks_migrated_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = ApplyPool._apply_unusual

    def forgetful(pool: ApplyPool, peer: Peer, entry: Entry) -> int:
        migrates = any(isinstance(command, MigratedLocks) for command in entry.payload)
        return ADMIN if migrates and peer.store == 3 else sound(pool, peer, entry)

    monkeypatch.setattr(ApplyPool, "_apply_unusual", forgetful)
    unit = SwarmUnit(AN_OLD_STORE)
    unit.run()
    assert locks.ONE_HOLDER in laws_broken(unit)
