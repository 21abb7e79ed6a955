"""What to expect of a scenario before it runs, by operational laws and simple queueing formulas.

::

    dry_session ► footprint          what a transaction asks for, on paper
    formulas, moments, poller_chain  queueing theory
    region_activity, disk_load ► store_model    one store at a rate
    paths ► throughput               times, and the rate that follows from them
    doubts, run_cost ► estimate
"""

from sim.estimate.doubts import Doubt
from sim.estimate.estimate import (
    ORDER,
    SATURATED,
    Estimate,
    Station,
    estimate,
    has_estimate,
    same_footprint,
)
from sim.estimate.footprint import Footprint, Sample, draw, footprint, mean_of
from sim.estimate.run_cost import RunCost

__all__ = [
    "ORDER", "SATURATED", "Doubt", "Estimate", "Footprint", "RunCost", "Sample", "Station", "draw",
    "estimate", "footprint", "has_estimate", "mean_of", "same_footprint",
]  # fmt: skip
