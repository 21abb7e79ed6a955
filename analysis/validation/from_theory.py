"""The model's figure of a theory anchor: one queue, run by itself."""

from __future__ import annotations

from analysis.statistics.batch_means import mean_interval
from analysis.validation.anchor import Figure
from sim.queueing import QUEUES


def theory_figure(queue_name: str) -> Figure:
    """Returns mean and 95 % interval of a queue of ``sim.queueing``, in its unit."""
    queue = QUEUES[queue_name]
    middle, low, high = (queue.to_unit(mean) for mean in mean_interval(queue.run()))
    return Figure(middle, min(low, high), max(low, high))
