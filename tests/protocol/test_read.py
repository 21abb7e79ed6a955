"""Who blocks a read, against a dumb oracle: a flat list of locks and a list of reasons to pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.protocol.mvcc import DELETE, LOCK_ONLY, PESSIMISTIC, PUT, Lock, Mvcc
from sim.protocol.percolator import KeyIsLocked, read
from sim.protocol.timestamp import MAX_TS
from tests.protocol.mutants import must_be_caught

KEYS = [b"a", b"b", b"c", b"d"]
SIZES = Mvcc().lock_format.pessimistic(1, 1)
Predicate = Callable[[bytes, Lock, int, Sequence[int]], bool]


class Scene(NamedTuple):
    """Two tables of locks, and a read of some keys or ranges."""

    stored: dict[bytes, Lock]
    prewriting: dict[bytes, Lock]
    keys: list[bytes]
    read_ts: int
    bypass: tuple[int, ...]


def lock_of(kind: int, primary: bytes, start_ts: int, push: int, is_async: bool) -> Lock:
    min_commit_ts = start_ts + push if push else 0
    return Lock(kind, primary, start_ts, 3000, 0, min_commit_ts, SIZES, use_async_commit=is_async)


KEY = st.sampled_from(KEYS)
LOCKS = st.builds(
    lock_of,
    st.sampled_from([PUT, DELETE, LOCK_ONLY, PESSIMISTIC]),
    KEY,
    st.integers(1, 6),
    st.integers(0, 3),
    st.booleans(),
)
TABLES = st.dictionaries(KEY, LOCKS)
SCENES = st.builds(
    Scene,
    TABLES,
    TABLES,
    st.lists(KEY, min_size=2, max_size=4).filter(lambda keys: len(keys) % 2 == 0),
    st.integers(1, 8) | st.just(MAX_TS),
    st.lists(st.integers(1, 6), max_size=2).map(tuple),
)


def reasons_to_pass(key: bytes, lock: Lock, scene: Scene) -> list[str]:
    """Why a reader need not wait for a lock; nothing else allows it to pass."""
    newest = scene.read_ts == MAX_TS
    reasons = {
        "it changes no data": lock.kind in (PESSIMISTIC, LOCK_ONLY),
        "its transaction began later": lock.start_ts > scene.read_ts,
        "its transaction must commit later": lock.min_commit_ts > scene.read_ts,
        "its transaction is known to commit later": lock.start_ts in scene.bypass,
        "the newest version is read, and this primary is not committed": (
            newest and key == lock.primary and not lock.use_async_commit
        ),
    }
    return [reason for reason, holds in reasons.items() if holds]


def oracle(scene: Scene, is_read: Callable[[bytes], bool]) -> list[tuple[bytes, Lock]]:
    """Returns every lock that blocks the read, those of the lock CF first."""
    locks = [*scene.stored.items(), *scene.prewriting.items()]
    return [(k, lock) for k, lock in locks if is_read(k) and not reasons_to_pass(k, lock, scene)]


def records(scene: Scene) -> Mvcc:
    mvcc = Mvcc()
    mvcc.locks = scene.stored
    return mvcc


def check_keys(scene: Scene) -> None:
    """A point read meets the first blocking lock in the order of its keys, lock CF first."""
    met = read.lock_blocking_keys(
        records(scene), scene.prewriting, scene.keys, scene.read_ts, scene.bypass
    )
    stored = Scene(scene.stored, {}, *scene[2:])
    blocking = oracle(stored, scene.keys.__contains__) or oracle(scene, scene.keys.__contains__)
    blocking.sort(key=lambda item: scene.keys.index(item[0]))
    assert met == (KeyIsLocked(*blocking[0]) if blocking else None)


def check_ranges(scene: Scene) -> None:
    """A range read meets the first blocking lock of the lock CF, else of the prewrites."""
    low, high, *others = scene.keys
    ranges = [(low, high), *zip(others[::2], others[1::2], strict=True)]
    covered = {key for first, last in ranges for key in KEYS if key >= first if key <= last}
    met = read.lock_blocking_ranges(
        records(scene), scene.prewriting, ranges, scene.read_ts, scene.bypass
    )
    blocking = oracle(scene, covered.__contains__)
    assert met == (KeyIsLocked(*blocking[0]) if blocking else None)


@given(SCENES)
@settings(max_examples=500)
def test_a_point_read_waits_for_whom_the_oracle_says(scene: Scene) -> None:
    check_keys(scene)


@given(SCENES)
@settings(max_examples=500)
def test_a_range_read_waits_for_whom_the_oracle_says(scene: Scene) -> None:
    check_ranges(scene)


SOUND = read.blocks_reader


def blocks_without_bypass(key: bytes, lock: Lock, read_ts: int, bypass: Sequence[int]) -> bool:
    return SOUND(key, lock, read_ts)


def blocks_at_max_ts(key: bytes, lock: Lock, read_ts: int, bypass: Sequence[int]) -> bool:
    return SOUND(key, lock, min(read_ts, MAX_TS - 1), bypass)


def passes_async_primaries(key: bytes, lock: Lock, read_ts: int, bypass: Sequence[int]) -> bool:
    newest = read_ts == MAX_TS and key == lock.primary
    return not newest and SOUND(key, lock, read_ts, bypass)


def passes_what_began_at_the_read(
    key: bytes, lock: Lock, read_ts: int, bypass: Sequence[int]
) -> bool:
    return lock.start_ts != read_ts and SOUND(key, lock, read_ts, bypass)


def ignores_min_commit_ts(key: bytes, lock: Lock, read_ts: int, bypass: Sequence[int]) -> bool:
    return SOUND(key, lock.with_min_commit_ts(0), read_ts, bypass)


@pytest.mark.parametrize(
    "mutant",
    [
        blocks_without_bypass,
        blocks_at_max_ts,
        passes_async_primaries,
        passes_what_began_at_the_read,
        ignores_min_commit_ts,
    ],
)
def test_the_oracle_catches(mutant: Predicate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "blocks_reader", mutant)
    must_be_caught(SCENES, check_keys)
    must_be_caught(SCENES, check_ranges)
