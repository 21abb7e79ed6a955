"""One replica's Raft log: entries, and how far they are persisted, committed and applied.

Invariant: ``applied <= committed`` and ``applied <= persisted + apply_ahead``; a committed entry
never changes. The log knows no peers and no messages.

Source: etcd-io/raft ``log.go``; tikv/raft-rs ``src/raft_log.rs`` (applied_index_upper_bound);
Ongaro and Ousterhout, In Search of an Understandable
Consensus Algorithm, section 5.3.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final


class Entry:
    """One log entry: some commands that are proposed, persisted and applied together."""

    __slots__ = (
        "committed_ns",
        "index",
        "is_applied",
        "payload",
        "proposed_ns",
        "size_bytes",
        "term",
    )

    changes_voters: ClassVar[bool] = False

    def __init__(self, term: int, index: int, payload: Any, size_bytes: int) -> None:
        self.term = term
        self.index = index
        self.payload = payload
        """The proposer's; Raft never looks inside."""
        self.size_bytes = size_bytes
        """The entry as the raft engine stores it, without that engine's own framing."""
        self.committed_ns = 0
        self.proposed_ns = 0
        self.is_applied = False
        """Whether any replica has applied it; for drivers, like the times."""


class ConfEntry(Entry):
    """An entry whose applying may change the voters."""

    __slots__ = ()

    changes_voters: ClassVar[bool] = True


NO_ENTRIES: list[Entry] = []
"""Stands for "nothing to do"; never filled."""

NOOP: Final[list[object]] = []
"""Payload of the empty entry that begins a leader's term: no commands. Never filled."""

NOOP_BYTES: Final = 12
"""The empty entry: type, term and index of a raft entry."""


class RaftLog:
    """Entries ``first_index .. last_index`` and the four marks.

    ``writing`` and ``applying`` run ahead of ``persisted`` and of what is applied: they mark what
    has been handed out to be persisted, and to be applied.
    """

    __slots__ = (
        "apply_ahead",
        "applying",
        "committed",
        "entries",
        "first_index",
        "first_term",
        "last_index",
        "persisted",
        "truncated",
        "writing",
    )

    def __init__(self, *, first_index: int = 6, first_term: int = 5) -> None:
        """Begins as TiKV's bootstrapped region does: truncated at index 5, term 5."""
        self.entries: list[Entry] = []
        self.first_index = first_index
        self.first_term = first_term
        self.last_index = first_index - 1
        """Index of the newest entry, persisted or not."""
        self.writing = first_index - 1
        self.persisted = first_index - 1
        self.committed = first_index - 1
        self.applying = first_index - 1
        self.apply_ahead = 0
        """How many committed entries may be applied before they are durable here."""
        self.truncated = NO_ENTRIES
        """Entries that were cut off and have not been taken yet."""

    @property
    def last_term(self) -> int:
        """Term of the newest entry."""
        return self.entries[-1].term if self.entries else self.first_term

    def term_of(self, index: int) -> int:
        """Returns the term of the entry at ``index``, which must not be compacted."""
        if index < self.first_index:
            assert index == self.first_index - 1, f"index {index} is compacted"
            return self.first_term
        return self.entries[index - self.first_index].term

    def append(self, entry: Entry) -> None:
        """Adds the next entry."""
        assert entry.index == self.last_index + 1, "a gap in the log"
        self.entries.append(entry)
        self.last_index = entry.index

    def since(self, index: int) -> list[Entry]:
        """Returns the entries from ``index`` on."""
        return self.entries[index - self.first_index :]

    def accept(self, prev_index: int, prev_term: int, entries: list[Entry]) -> bool:
        """Adds a leader's entries after ``prev_index``; a conflicting tail is cut off.

        Returns:
            Whether the log holds (``prev_index``, ``prev_term``); nothing changes when not.
        """
        last = self.last_index
        if prev_index > last:
            return False
        offset = prev_index - self.first_index
        if offset >= 0 and self.entries[offset].term != prev_term:
            return False
        if offset == -1 and self.first_term != prev_term:
            return False
        if prev_index == last:
            self.entries += entries
            self.last_index = last + len(entries)
            return True
        for entry in entries:
            if entry.index <= self.last_index:
                if entry.index < self.first_index or self.term_of(entry.index) == entry.term:
                    continue
                self._truncate_from(entry.index)
            self.append(entry)
        return True

    def may_agree_up_to(self, index: int, term: int) -> int:
        """Returns the last index up to ``index`` that may agree with a log of ``term`` there.

        Terms never fall along a log, so entries of later terms can be skipped at once (Raft 5.3).
        """
        index = min(index, self.last_index)
        while index > self.committed and self.term_of(index) > term:
            index -= 1
        return index

    def holds(self, index: int, term: int) -> bool:
        """Returns whether the entry at ``index`` is here and of ``term``."""
        return self.first_index - 1 <= index <= self.last_index and self.term_of(index) == term

    def commit_to(self, index: int) -> None:
        """Moves the commit mark forward, never back and never past the log's end."""
        if index > self.committed:
            self.committed = min(index, self.last_index)

    def take_committed(self) -> list[Entry]:
        """Returns the entries that may be applied now and were not handed out before."""
        until = self.committed
        if until > self.persisted + self.apply_ahead:
            until = self.persisted + self.apply_ahead
        applying = self.applying
        if until <= applying:
            return NO_ENTRIES
        offset = self.first_index
        self.applying = until
        return self.entries[applying + 1 - offset : until + 1 - offset]

    def compact_to(self, index: int) -> None:
        """Forgets the entries up to ``index``, which every replica must have applied."""
        assert index <= self.applying, "only applied entries may be forgotten"
        count = index - self.first_index + 1
        if count > 0:
            self.first_term = self.entries[count - 1].term
            del self.entries[:count]
            self.first_index = index + 1

    def restore(self, index: int, term: int) -> None:
        """Starts again after a snapshot; entries that were not applied count as cut off."""
        assert index > self.committed, "a snapshot must not take the log back"
        self._cut_off(self.since(max(self.first_index, self.applying + 1)))
        self.entries = []
        self.first_index = index + 1
        self.first_term = term
        self.last_index = index
        self.writing = self.persisted = self.committed = self.applying = index

    def after_crash(self, applied: int) -> RaftLog:
        """Returns the log as it is found on disk, applied up to ``applied``.

        The commit mark is written with the entries but not synced; it survives a crash of the
        process, as the page cache does. A tail that was being replaced counts as lost: the leader
        that replaced it was elected without it, so it will never be committed. A log that ends
        before what is applied begins anew behind that (TiKV: UnsafeForceCompact).
        """
        if applied > self.persisted:
            return RaftLog(first_index=applied + 1, first_term=self.term_of(applied))
        log = RaftLog(first_index=self.first_index, first_term=self.first_term)
        log.entries = self.entries[: self.persisted - self.first_index + 1]
        log.last_index = log.writing = log.persisted = self.persisted
        log.committed = min(self.committed, self.persisted)
        log.applying = applied
        return log

    def take_truncated(self) -> list[Entry]:
        """Returns the entries that were cut off since the last call."""
        truncated, self.truncated = self.truncated, NO_ENTRIES
        return truncated

    def _truncate_from(self, index: int) -> None:
        assert index > self.committed, "a committed entry must never change"
        offset = index - self.first_index
        self._cut_off(self.entries[offset:])
        del self.entries[offset:]
        self.last_index = index - 1
        self.persisted = min(self.persisted, index - 1)
        self.writing = min(self.writing, index - 1)

    def _cut_off(self, entries: list[Entry]) -> None:
        if entries:
            self.truncated = self.truncated + entries

    def __str__(self) -> str:
        return (
            f"[{self.first_index}..{self.last_index}] persisted {self.persisted} "
            f"committed {self.committed} applying {self.applying}"
        )
