"""What the replica of a merge's source remembers, before and after its PrepareMerge."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.protocol.region import Region


class MergeState:
    """One merge of this region into ``target``.

    Attributes:
        target: the region to merge into, as it was when the merge began.
        fence: nothing else is proposed until the log is applied up to here; 0: no fence.
        min_index: what every replica is known to have.
        commit: where the PrepareMerge stands in the log, once it is applied; 0 before.
    """

    __slots__ = ("commit", "fence", "min_index", "target")

    def __init__(self, target: Region) -> None:
        self.target = target
        self.fence = 0
        self.min_index = 0
        self.commit = 0
