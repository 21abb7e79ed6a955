"""One replica's Raft log: entries, and how far they are persisted, committed and applied.

Law: ``applied <= committed`` and ``applied <= persisted``; an entry is never applied before it
is durable here (TiKV's default, ``raftstore.max-apply-unpersisted-log-limit = 0``), and an
entry that is committed never changes. The log knows no peers and no messages.

Source: etcd-io/raft ``log.go``; Ongaro and Ousterhout, In Search of an Understandable
Consensus Algorithm, section 5.3.
"""

from __future__ import annotations


class Entry:
    """One log entry: some commands that are proposed, persisted and applied together.

    ``payload`` belongs to whoever proposed; Raft never looks inside. ``size_bytes`` is the
    entry as the raft engine stores it, without that engine's own framing.
    """

    __slots__ = ("committed_ns", "index", "payload", "size_bytes", "term")

    def __init__(self, term: int, index: int, payload: object, size_bytes: int) -> None:
        self.term = term
        self.index = index
        self.payload = payload
        self.size_bytes = size_bytes
        self.committed_ns = 0


NO_ENTRIES: list[Entry] = []
"""Stands for "nothing to do"; never filled."""


class RaftLog:
    """Entries ``first_index .. last_index`` and the four marks.

    ``writing`` and ``applying`` run ahead of what is done: they say what was handed out to be
    persisted, and to be applied.
    """

    __slots__ = (
        "applying",
        "committed",
        "entries",
        "first_index",
        "first_term",
        "persisted",
        "writing",
    )

    def __init__(self, *, first_index: int = 6, first_term: int = 5) -> None:
        """Begins as TiKV's bootstrapped region does: truncated at index 5, term 5."""
        self.entries: list[Entry] = []
        self.first_index = first_index
        self.first_term = first_term
        self.writing = first_index - 1
        self.persisted = first_index - 1
        self.committed = first_index - 1
        self.applying = first_index - 1

    @property
    def last_index(self) -> int:
        """Index of the newest entry, persisted or not."""
        return self.first_index + len(self.entries) - 1

    def term_of(self, index: int) -> int:
        """Returns the term of the entry at ``index``, which must not be compacted."""
        if index < self.first_index:
            assert index == self.first_index - 1, f"index {index} is compacted"
            return self.first_term
        return self.entries[index - self.first_index].term

    def append(self, entry: Entry) -> None:
        """Adds the next entry."""
        assert entry.index == self.first_index + len(self.entries), "a gap in the log"
        self.entries.append(entry)

    def since(self, index: int) -> list[Entry]:
        """Returns the entries from ``index`` on."""
        return self.entries[index - self.first_index :]

    def accept(self, prev_index: int, prev_term: int, entries: list[Entry]) -> bool:
        """Adds a leader's entries behind ``prev_index``; a conflicting tail is cut off.

        Returns:
            Whether the log holds (``prev_index``, ``prev_term``); nothing changes when not.
        """
        last = self.first_index + len(self.entries) - 1
        if prev_index > last:
            return False
        offset = prev_index - self.first_index
        if offset >= 0 and self.entries[offset].term != prev_term:
            return False
        if offset == -1 and self.first_term != prev_term:
            return False
        if prev_index == last:
            self.entries += entries
            return True
        for entry in entries:
            if entry.index <= last:
                if entry.index < self.first_index or self.term_of(entry.index) == entry.term:
                    continue
                self._truncate_from(entry.index)
                last = entry.index - 1
            self.entries.append(entry)
            last += 1
        return True

    def commit_to(self, index: int) -> None:
        """Moves the commit mark forward, never back and never past the log's end."""
        if index > self.committed:
            self.committed = min(index, self.last_index)

    def take_committed(self) -> list[Entry]:
        """Returns the entries that may be applied now and were not handed out before."""
        until = self.committed
        if until > self.persisted:
            until = self.persisted
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

    def _truncate_from(self, index: int) -> None:
        assert index > self.committed, "a committed entry must never change"
        del self.entries[index - self.first_index :]
        self.persisted = min(self.persisted, index - 1)
        self.writing = min(self.writing, index - 1)

    def __str__(self) -> str:
        return (
            f"[{self.first_index}..{self.last_index}] persisted {self.persisted} "
            f"committed {self.committed} applying {self.applying}"
        )
