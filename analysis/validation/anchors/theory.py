"""Anchors of queueing theory: stations of the engine alone, against formulas."""

from __future__ import annotations

from typing import Final

from analysis.validation.anchor import Anchor, Band, Figure, InTheory
from sim.queueing.catalogue import QUEUES

_SOURCES: Final = {
    "quorum": "David, Nagaraja: Order Statistics, 3rd ed., section 4.6",
    "closed_network": "Reiser, Lavenberg: Mean-Value Analysis of Closed Networks, J. ACM 1980",
    "littles_law": "Little: A Proof for the Queuing Formula L = λW, Oper. Res. 1961",
    "no_queue": "the mean of the distribution that is drawn from",
}
_QUEUEING: Final = "Gross et al.: Fundamentals of Queueing Theory, 4th ed., chapters 2 and 5"

THEORY: Final = tuple(
    Anchor(
        name=queue.what,
        kind="theory",
        conditions=queue.setting,
        source=_SOURCES.get(name, _QUEUEING),
        unit=queue.unit,
        theirs=Figure.exactly(queue.expected),
        band=Band(share=0.05),
        origin=InTheory(name),
    )
    for name, queue in QUEUES.items()
)
