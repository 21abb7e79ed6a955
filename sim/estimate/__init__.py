"""What to expect of a scenario before it runs, by operational laws and simple queueing formulas.

::

    transaction_plan, records ► footprint        what a transaction asks for
    regions, pollers, disk_demand ► store        utilisation at a rate, from service demands
    machines, ports                              likewise, of TiDB, the clients, the network
    response ► throughput                        times, and the rate that follows from them
    load_warnings, left_out, run_cost ► estimate what is said about it
"""

from sim.estimate.estimate import (
    Estimate,
    Estimates,
    Station,
    estimate,
    has_estimate,
    same_footprint,
)
from sim.estimate.footprint import Footprint, Sample, draw, footprint_of, mean_of
from sim.estimate.regions import too_many_regions

__all__ = [
    "Estimate", "Estimates", "Footprint", "Sample", "Station",
    "draw", "estimate", "footprint_of", "has_estimate", "mean_of", "same_footprint",
    "too_many_regions",
]  # fmt: skip
