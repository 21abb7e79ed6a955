"""One attempt to hand over leadership, as its leader remembers it."""

from __future__ import annotations


class TransferState:
    """Since when the table is closed for a transfer, and to whom it goes.

    Attributes:
        to_store: the target of the latest attempt.
        ticks: reactivation ticks since the locks were proposed.
        locks_index: where the locks stand in the log, 0 if none were proposed.
        left_out: why locks were not proposed although there were some: ``too_large``,
            ``in_flight`` (a split or merge would make them fail); empty otherwise.
        handing_over: whether Raft has been told to hand over.
    """

    __slots__ = ("handing_over", "left_out", "locks_index", "ticks", "to_store")

    def __init__(self, to_store: int) -> None:
        self.to_store = to_store
        self.ticks = 0
        self.locks_index = 0
        self.left_out = ""
        self.handing_over = False
