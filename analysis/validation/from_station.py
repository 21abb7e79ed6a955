"""The model's figure of an anchor that needs no study: a station or a queue, run by itself."""

from __future__ import annotations

from analysis.statistics.batch_means import mean_interval
from analysis.validation.anchor import Alone, Figure
from sim.queueing.catalogue import QUEUES
from sim.queueing.devices import DEVICE


def theory_figure(queue_name: str) -> Figure:
    """Returns mean and 95 % interval of a queue of ``sim.queueing``, in its unit."""
    queue = QUEUES[queue_name]
    middle, low, high = (queue.to_unit(mean) for mean in mean_interval(queue.run()))
    return Figure(middle, min(low, high), max(low, high))


def device_figure(origin: Alone) -> Figure:
    """Returns mean and 95 % interval of a run of ``sim.queueing.DEVICE``, in the anchor's unit."""
    return Figure(*(origin.scale * mean for mean in mean_interval(DEVICE[origin.run]())))
