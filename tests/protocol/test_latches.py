"""Latches: scripts in tests/testdata/latches, and one list of requests as the dumb twin."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.protocol.latches import Latches, Slots
from tests import datadriven
from tests.datadriven import Command
from tests.protocol.mutants import must_be_caught


class LatchScript:
    """Runs lines such as ``acquire 1 3 5``: command 1 wants slots 3 and 5."""

    def __init__(self) -> None:
        self.latches = Latches(8)
        self.slots: dict[int, Slots] = {}

    def execute(self, command: Command) -> str:
        """acquire CID SLOT... | release CID | hand_over CID HEIR"""
        numbers = [int(word) for word in command.words]
        match command.name, numbers:
            case "acquire", [cid, *slots]:
                self.slots[cid] = tuple(slots)
                return "runs" if self.latches.acquire(cid, tuple(slots)) else "waits"
            case "release", [cid]:
                return f"runs now: {self.latches.release(cid, self.slots.pop(cid))}"
            case "hand_over", [cid, heir]:
                self.slots[heir] = self.slots.pop(cid)
                self.latches.hand_over(cid, self.slots[heir], heir)
                return f"{heir} holds {self.slots[heir]}"
            case _:
                raise AssertionError(command)


@pytest.mark.parametrize("path", datadriven.files("latches"), ids=lambda path: path.stem)
def test_scripts(path: Path, rewrite: bool) -> None:
    datadriven.run(path, LatchScript().execute, rewrite=rewrite)


class QueuePerSlot:
    """Every slot is a list of commands; whoever is first everywhere runs."""

    def __init__(self) -> None:
        self.queues: dict[int, list[int]] = {}
        self.wants: dict[int, Slots] = {}

    def enter(self, cid: int) -> bool:
        """Queues for the next slots as long as the command is first at those before."""
        for slot in self.wants[cid]:
            queue = self.queues.setdefault(slot, [])
            if cid not in queue:
                queue.append(cid)
            if queue[0] != cid:
                return False
        return True

    def acquire(self, cid: int, slots: Slots) -> bool:
        self.wants[cid] = slots
        return self.enter(cid)

    def release(self, cid: int) -> list[int]:
        slots = self.wants.pop(cid)
        heirs = []
        for slot in slots:
            queue = self.queues[slot]
            queue.remove(cid)
            heirs += queue[:1]
        return [heir for heir in heirs if self.enter(heir)]


STEPS = st.lists(st.tuples(st.booleans(), st.sets(st.integers(0, 4), min_size=1)), max_size=40)
Steps = list[tuple[bool, set[int]]]


def compare(steps: Steps, latches: Latches) -> None:
    twin = QueuePerSlot()
    running: list[int] = []
    for cid, (arrives, wanted) in enumerate(steps):
        if arrives or not running:
            slots = tuple(sorted(wanted))
            runs = latches.acquire(cid, slots)
            assert runs == twin.acquire(cid, slots)
            running += [cid] if runs else []
        else:
            done = running.pop(min(wanted) % len(running))
            woken = latches.release(done, twin.wants[done])
            assert woken == twin.release(done)
            running += woken
        held = [slot for cid in running for slot in twin.wants[cid]]
        assert len(held) == len(set(held)), "two running commands share a slot"
    while running:
        done = running.pop()
        running += latches.release(done, twin.wants[done])
        twin.release(done)
    assert not twin.wants, "somebody waits for ever"


@given(STEPS)
def test_latches_behave_like_a_queue_per_slot(steps: Steps) -> None:
    compare(steps, Latches(8))


class LastComeFirst(Latches):
    """Mutant: the youngest waiter of a slot goes first."""

    def _next_holder(self, cid: int, slot: int) -> int | None:
        if slot in self._waiting:
            self._waiting[slot].reverse()
        return super()._next_holder(cid, slot)


class LosesHeirs(Latches):
    """Mutant: a woken command that must wait again is forgotten."""

    def _take_rest(self, heir: int) -> bool:
        slots, owned = self._pending.pop(heir)
        return owned + 1 == len(slots)


@pytest.mark.parametrize("mutant", [LastComeFirst, LosesHeirs])
def test_twin_catches(mutant: type[Latches]) -> None:
    must_be_caught(STEPS, lambda steps: compare(steps, mutant(8)))


def test_slots_do_not_depend_on_the_order_of_keys() -> None:
    latches = Latches()
    keys = [b"k%d" % number for number in range(20)]
    slots = latches.slots_of(keys)
    assert slots == latches.slots_of(keys[::-1]) == tuple(sorted(slots))
    assert latches.slots_of([b"k3"]) == latches.slots_of([b"k3", b"k3"])
    assert Latches(1).slots_of(keys) == (0,)


def test_only_the_holder_hands_over() -> None:
    latches = Latches()
    latches.acquire(1, (5,))
    with pytest.raises(AssertionError, match="not held by 2"):
        latches.hand_over(2, (5,), 3)
