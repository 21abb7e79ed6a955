"""Anchors about leaders that move: what it takes, and what comes of it.

One operator of one cluster is all that was logged of a healthy transfer, without hardware or load.
The setting is that of the RFC's claims. Bands: 15 % for latencies of a cluster.
"""

from __future__ import annotations

from typing import Final

from analysis.metrics.catalogue import MetricKey
from analysis.validation.anchor import Anchor, Band, Figure, InStudy, Quotient

_TIMES: Final = (
    Anchor(
        name="leader transfer",
        kind="published",
        conditions="PD's order until PD hears of it; v4.0, one log line, hardware and load not "
        "named; here TPC-C, gp3, 50 threads",
        source="tikv/tikv#10942 (operator finish, takes=29.294468ms)",
        unit="ms",
        theirs=Figure.exactly(29.294468),
        band=Band(share=0.15),
        quick=False,
        origin=InStudy("leader_transfer", "pipelined", MetricKey.parse("leader_transfer_ms")),
    ),
    Anchor(
        name="leader transfer by command, longest",
        kind="published",
        conditions="a TransferLeader command, two log lines; here regions with few writes",
        source="tikv/tikv#19602 (1.636 s and 1.9 s)",
        unit="s",
        theirs=Figure((1.636 + 1.905) / 2, 1.636, 1.905),
        band=Band(share=0.15),
        quick=False,
        origin=InStudy(
            "quiet_transfer", "in_memory", MetricKey.parse("leader_transfer_ms.command.max"),
            scale=1e-3,
        ),
    ),
)  # fmt: skip


def _of_failed_transfer(metric: str, scale: float = 1.0) -> InStudy:
    return InStudy("transfer_fails", "in_memory", MetricKey.parse(metric), scale=scale)


_CONSEQUENCES: Final = (
    Anchor(
        name="locks proposed after a failed transfer",
        kind="published",
        conditions="reactive-memory-lock-timeout-tick 5 x 2 s",
        source="tikv/tikv components/raftstore/src/store/config.rs",
        unit="s",
        quick=False,
        theirs=Figure(9.0, 8.0, 10.0),
        band=Band(amount=1.5),
        # One of four regions with equal shares of the load falls back; 42 s are measured.
        origin=Quotient(
            _of_failed_transfer("locks_total.fallback:status", scale=4 * 42.0),
            _of_failed_transfer("locks_total"),
        ),
    ),
)  # fmt: skip

LEADERS: Final = (*_CONSEQUENCES, *_TIMES)
