"""Wait queues: scripts in tests/testdata/lock_waiting, and a sorted list as the dumb twin."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.protocol.lock_waiting import LockWaitEntry, LockWaitQueues
from sim.protocol.mvcc import PESSIMISTIC, Lock, Mvcc
from tests import datadriven
from tests.datadriven import Command
from tests.protocol.mutants import must_be_caught

HOLDER = Lock(PESSIMISTIC, b"k", 1, 0, 1, 2, Mvcc().lock_format.pessimistic(1, 1))


class QueueScript:
    """Runs lines such as ``push k1 20``; a request's token is its start_ts."""

    def __init__(self) -> None:
        self.queues = LockWaitQueues()
        self.entries: dict[tuple[bytes, int], LockWaitEntry] = {}

    def execute(self, command: Command) -> str:
        """push KEY START_TS [fair=1] | release KEY | delayed KEY mark= | cancel KEY START_TS"""
        key = command.words[0].encode()
        return f"{self._run(command, key)}\n{self.queues}".strip()

    def _run(self, command: Command, key: bytes) -> str:
        match command.name:
            case "push":
                start_ts = int(command.words[1])
                entry = self.entries.get((key, start_ts)) or LockWaitEntry(
                    key, start_ts, HOLDER, start_ts, resumable="fair" in command.options
                )
                self.entries[key, start_ts] = entry
                self.queues.push(entry)
                return "queued"
            case "cancel":
                entry = self.entries[key, int(command.words[1])]
                return "cancelled" if self.queues.cancel(entry) else "was woken already"
            case "release":
                woken, others = self.queues.pop_for_release(key)
                return f"wake {woken}, others {others}, mark {self.queues.mark}"
            case "delayed":
                return f"wake {self.queues.pop_delayed(key, command.number('mark'))}"
            case _:
                raise AssertionError(command.name)


@pytest.mark.parametrize("path", datadriven.files("lock_waiting"), ids=lambda path: path.stem)
def test_scripts(path: Path, rewrite: bool) -> None:
    datadriven.run(path, QueueScript().execute, rewrite=rewrite)


class SortedListQueues:
    """The same rules over one list that is searched from end to end."""

    def __init__(self) -> None:
        self.waiting: list[tuple[bytes, int, int, bool, int]] = []
        self.mark = 0
        self.pushes = 0
        self.marks: dict[bytes, int] = {}

    def push(self, key: bytes, start_ts: int, *, fair: bool) -> None:
        self.pushes += 1
        self.waiting.append((key, start_ts, self.pushes, fair, self.mark))

    def of(self, key: bytes) -> list[tuple[bytes, int, int, bool, int]]:
        return sorted(item for item in self.waiting if item[0] == key)

    def take(self, item: tuple[bytes, int, int, bool, int]) -> int:
        self.waiting.remove(item)
        if not self.of(item[0]):
            self.marks.pop(item[0], None)
        return item[2]

    def release(self, key: bytes) -> tuple[int | None, int]:
        queue = self.of(key)
        if not queue:
            return None, 0
        if not queue[0][3]:
            self.mark += 1
            self.marks[key] = self.mark
        return self.take(queue[0]), len(queue) - 1

    def delayed(self, key: bytes, mark: int) -> list[int]:
        woken: list[int] = []
        if self.marks.get(key) != mark:
            return woken
        del self.marks[key]
        for item in self.of(key):
            if item[4] >= mark:
                break
            woken.append(self.take(item))
            if item[3]:
                break
        return woken


KEYS = st.sampled_from([b"a", b"b"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("push"), KEYS, st.integers(1, 6), st.booleans()),
        st.tuples(st.just("release"), KEYS),
        st.tuples(st.just("delayed"), KEYS, st.integers(0, 2)),
        st.tuples(st.just("cancel"), st.integers(1, 12)),
    ),
    max_size=40,
)
Step = tuple[object, ...]


def compare(steps: Sequence[Step], queues: LockWaitQueues) -> None:
    """Runs the steps on both; entries are told apart by their push number, used as token."""
    twin = SortedListQueues()
    entries: dict[int, LockWaitEntry] = {}
    for step in steps:
        match step:
            case ("push", bytes(key), int(start_ts), bool(fair)):
                twin.push(key, start_ts, fair=fair)
                entry = LockWaitEntry(key, start_ts, HOLDER, twin.pushes, resumable=fair)
                entries[twin.pushes] = entry
                queues.push(entry)
            case ("release", bytes(key)):
                woken, others = queues.pop_for_release(key)
                assert (woken and woken.token, others) == twin.release(key)
            case ("delayed", bytes(key), int(age)):
                woken_now = queues.pop_delayed(key, queues.mark - age)
                assert [e.token for e in woken_now] == twin.delayed(key, twin.mark - age)
            case ("cancel", int(token)) if token in entries:
                items = [item for item in twin.waiting if item[2] == token]
                assert queues.cancel(entries[token]) == bool(items)
                for item in items:
                    twin.take(item)
        for key in (b"a", b"b"):
            assert [e.token for e in queues.waiters(key)] == [item[2] for item in twin.of(key)]
        assert len(queues) == len(twin.waiting)


@given(STEPS)
def test_queues_behave_like_a_sorted_list(steps: list[Step]) -> None:
    compare(steps, LockWaitQueues())


class FirstComeFirstServed(LockWaitQueues):
    """Mutant: wakes in the order of arrival."""

    def push(self, entry: LockWaitEntry) -> None:
        super().push(entry)
        heap = self._queues[entry.key].heap
        heap[:] = [(0, order, waiter) for _, order, waiter in heap]
        heap.sort()


class WakesLatecomers(LockWaitQueues):
    """Mutant: the delay wakes those too who came after the wake-up."""

    def push(self, entry: LockWaitEntry) -> None:
        super().push(entry)
        entry.wake_ups = 0 if self.mark else -1


class ForgetsCancel(LockWaitQueues):
    """Mutant: wakes the cancelled."""

    def cancel(self, entry: LockWaitEntry) -> bool:
        return entry.queued


@pytest.mark.parametrize("mutant", [FirstComeFirstServed, WakesLatecomers, ForgetsCancel])
def test_twin_catches(mutant: type[LockWaitQueues]) -> None:
    must_be_caught(STEPS, lambda steps: compare(steps, mutant()))


def test_a_waiter_is_queued_once() -> None:
    queues = LockWaitQueues()
    entry = LockWaitEntry(b"k", 5, HOLDER, 1)
    queues.push(entry)
    with pytest.raises(AssertionError, match="waits already"):
        queues.push(entry)
