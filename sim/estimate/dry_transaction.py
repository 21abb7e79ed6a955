"""A transaction on paper: its requests, what they write, and how long its locks are held."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from sim.protocol.region import Region

RequestKind = Literal["lock", "get", "batch_get", "cop", "prewrite", "commit", "rollback"]


@dataclass(frozen=True, slots=True)
class Written:
    """What one command writes, in bytes; ``raft`` is without an entry's header."""

    keys: int
    raft: int
    wal: int
    data_cf: int
    """Entering the memtables of the default and write CF."""
    tombstones: int
    memory: int = 0
    """Of a pessimistic lock: what it takes in a lock table instead."""


@dataclass(frozen=True, slots=True)
class DryRequest:
    """One request to one region."""

    kind: RequestKind
    region: Region
    keys: tuple[bytes, ...]
    rows: int = 0
    insert: bool = False
    written: Written | None = None


@dataclass(slots=True)
class DryTransaction:
    """One transaction as its client sees it."""

    name: str
    commits: bool = True
    statements: int = 0
    timestamps: int = 0
    """Round trips to PD that the client waits for."""
    pause_ns: int = 0
    rounds: list[list[DryRequest]] = field(default_factory=list)
    """Requests sent together, whose answers the client waits for."""
    background: list[DryRequest] = field(default_factory=list)
    """Requests after the answer to the client."""
    statements_after_lock: dict[bytes, int] = field(default_factory=dict)
    """By key locked: statements carried out since, COMMIT included: how long it is held."""
    pause_after_lock_ns: dict[bytes, int] = field(default_factory=dict)
