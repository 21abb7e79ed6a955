"""Latches: commands on the same key run one after the other.

A key hashes to a slot; a slot has a queue of commands, and the first one holds it. A command takes
its slots in ascending order, waits at the first one that is held, and keeps those it has. All take
them in the same order, so no cycle can arise.

Source: tikv/tikv src/storage/txn/latch.rs.
"""

from collections import deque
from collections.abc import Sequence
from zlib import crc32

Slots = tuple[int, ...]


class Latches:
    """The latches of one store.

    Args:
        size: number of slots (``storage.scheduler-concurrency``).
    """

    def __init__(self, size: int = 524_288) -> None:
        self.size = size
        self._holders: dict[int, int] = {}
        self._waiting: dict[int, deque[int]] = {}
        self._pending: dict[int, tuple[Slots, int]] = {}

    def slots_of(self, keys: Sequence[bytes]) -> Slots:
        """Returns the slots of ``keys``, ascending, each once."""
        size = self.size
        if len(keys) == 1:
            return (crc32(keys[0]) % size,)
        return tuple(sorted({crc32(key) % size for key in keys}))

    def acquire(self, cid: int, slots: Slots, owned: int = 0) -> bool:
        """Takes the slots for command ``cid``; False if it must wait for a ``release``.

        It holds the first ``owned`` of them already.
        """
        holders = self._holders
        for slot in slots[owned:] if owned else slots:
            if slot in holders:
                if slot in self._waiting:
                    self._waiting[slot].append(cid)
                else:
                    self._waiting[slot] = deque((cid,))
                self._pending[cid] = (slots, slots.index(slot))
                return False
            holders[slot] = cid
        return True

    def release(self, cid: int, slots: Slots) -> list[int]:
        """Frees the slots of a command that holds all; returns the commands that may run now."""
        holders = self._holders
        if not self._waiting:
            for slot in slots:
                del holders[slot]
            return []
        woken = [heir for slot in slots if (heir := self._next_holder(cid, slot)) is not None]
        return [heir for heir in woken if self._take_rest(heir)]

    def hand_over(self, cid: int, slots: Slots, heir: int) -> None:
        """Gives the slots of ``cid`` to a command that waited for its lock (fair locking)."""
        for slot in slots:
            assert self._holders[slot] == cid, f"slot {slot} is not held by {cid}"
            self._holders[slot] = heir

    def _next_holder(self, cid: int, slot: int) -> int | None:
        assert self._holders[slot] == cid, f"slot {slot} is not held by {cid}"
        queue = self._waiting.get(slot)
        if queue is None:
            del self._holders[slot]
            return None
        heir = self._holders[slot] = queue.popleft()
        if not queue:
            del self._waiting[slot]
        return heir

    def _take_rest(self, heir: int) -> bool:
        slots, owned = self._pending.pop(heir)
        return self.acquire(heir, slots, owned + 1)
