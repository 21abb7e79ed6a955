"""When an operation begins and when all of it is over, as far as a scenario says."""

from __future__ import annotations

from typing import Final

from sim.scenario.schema.operations import (
    Driven,
    EvictLeader,
    Operation,
    Rolling,
    ShuffleLeader,
    Timed,
    TransferLeader,
)

MOMENTARY: Final = (TransferLeader, ShuffleLeader)
"""Over at once; splits and merges are not here, since they may prepare what is measured."""


def begins_ns(operation: Operation) -> int | None:
    """Returns when an operation is carried out first, at the earliest; None if chance says."""
    match operation:
        case Driven():
            return operation.from_ns
        case Timed(at_ns=int(at_ns)):
            return at_ns
        case Timed(every_ns=int(every_ns)):
            return every_ns if operation.from_ns is None else operation.from_ns
        case Timed(from_ns=from_ns):
            return from_ns
        case _:
            return None


def time_word(operation: Operation) -> str:
    """Returns the key that says when an operation begins."""
    if isinstance(operation, Timed):
        if operation.at_ns is not None:
            return "at"
        if operation.from_ns is None:
            return "every"
    return "from"


def ends_ns(operation: Operation) -> int | None:
    """Returns when all of it is over, None if that is not said."""
    if isinstance(operation, Timed) and operation.at_ns is not None:
        if isinstance(operation, MOMENTARY):
            return operation.at_ns
        for_ns: int | None = getattr(operation, "for_ns", None)
        if for_ns is not None and not isinstance(operation, Rolling):
            return operation.at_ns + for_ns
    return None


def rolling_takes_ns(operation: Rolling, stores: int) -> int:
    """Returns how long a rolling operation takes at least, from its begin."""
    number = stores if operation.store.by == "each" else 1
    each_ns = operation.down_ns if operation.restart else 0
    if isinstance(operation, EvictLeader) and not operation.restart:
        each_ns = operation.for_ns
    return number * each_ns + (number - 1) * operation.pause_ns
