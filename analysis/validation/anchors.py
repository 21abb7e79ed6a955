"""The anchors themselves, by who said it: queueing theory here, the others in ``anchors.yaml``."""

from __future__ import annotations

from functools import partial
from operator import mul
from pathlib import Path
from typing import Any, Final

import yaml

from analysis.metrics.catalogue import MetricKey
from analysis.validation.anchor import (
    Alone,
    Anchor,
    Band,
    Figure,
    InStudy,
    Origin,
    Quotient,
)
from analysis.validation.published import Locks, gains, published
from sim.queueing.catalogue import QUEUES
from sim.queueing.devices import DEVICE

_SOURCES: Final = {
    "quorum": "David, Nagaraja: Order Statistics, 3rd ed., section 4.6",
    "closed_network": "Reiser, Lavenberg: Mean-Value Analysis of Closed Networks, J. ACM 1980",
    "littles_law": "Little: A Proof for the Queuing Formula L = λW, Oper. Res. 1961",
    "no_queue": "the mean of the distribution that is drawn from",
}
_QUEUEING: Final = "Gross et al.: Fundamentals of Queueing Theory, 4th ed., chapters 2 and 5"
_NEW_ORDERS_PER_MIN: Final = 60 * 0.45
"""Of one transaction a second of all types."""


def _of_theory() -> list[Anchor]:
    """Returns stations of the engine alone, against formulas."""
    return [
        Anchor(
            name=queue.what,
            kind="theory",
            conditions=queue.setting,
            source=_SOURCES.get(name, _QUEUEING),
            unit=queue.unit,
            theirs=Figure.exactly(queue.expected),
            band=Band(share=0.05),
            origin=Alone(queue.run, queue.to_unit),
        )
        for name, queue in QUEUES.items()
    ]


def _of_file() -> list[Anchor]:
    text = Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    return [_anchor(group | each) for group in yaml.safe_load(text) for each in group["anchors"]]


def _anchor(said: dict[str, Any]) -> Anchor:
    named = ("name", "kind", "conditions", "source", "unit", "standing", "quick")
    return Anchor(
        **{name: said[name] for name in named if name in said},
        theirs=_theirs(said),
        band=Band(said.get("share", 0.0), said.get("amount", 0.0)),
        origin=_origin(said),
    )


def _theirs(said: dict[str, Any]) -> Figure:
    match said:
        case {"theirs": [value, low, high]}:
            return Figure(value, low, high)
        case {"theirs": value}:
            return Figure.exactly(value)
        case {"gain_of": workload, "threads": threads}:
            return gains(workload, threads)
        case {"published": ["tpcc", "mean_latency_ms", locks], "threads": threads}:
            return _mean_latency_ms(locks, threads)
        case _:
            workload, column, *locks = said["published"]
            return published(workload, said["threads"], column, *locks)


def _mean_latency_ms(locks: Locks, threads: int) -> Figure:
    """Returns threads over transactions a second of all types: a closed loop's mean latency."""
    tpmc = published("tpcc", threads, "tpmc", locks)
    busy = 1_000 * threads * _NEW_ORDERS_PER_MIN
    return Figure(busy / tpmc.value, busy / tpmc.high, busy / tpmc.low)


def _origin(said: dict[str, Any]) -> Origin:
    scale = said.get("scale", 1.0)
    if "run" in said:
        return Alone(DEVICE[said["run"]], partial(mul, scale))
    point = {"workload.threads": said["threads"]} if "threads" in said else {}
    where, against = (said["study"], said["variant"]), said.get("against")
    key = MetricKey.parse(said["figure"])
    if against is not None:
        return InStudy(*where, key, against, point, scale=100.0, change=True)
    figure = InStudy(*where, key, point=point, scale=scale)
    if "over" not in said:
        return figure
    return Quotient(figure, InStudy(*where, MetricKey.parse(said["over"]), point=point))


ANCHORS: Final = (*_of_theory(), *_of_file())
