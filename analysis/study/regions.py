"""Whether a case's tables can be cut into the regions that it asks for.

Only the tables' rows and their lengths say it, of which the schema knows nothing.
"""

from __future__ import annotations

from sim.scenario.resolved import Scenario
from sim.scenario.tree import Place


def check_regions(root: Place, scenario: Scenario) -> None:
    """Finds regions that no row is left for."""
    regions = scenario.cluster.regions
    if regions is None:
        return
    from sim.estimate import too_many_regions  # most studies leave regions to the tables

    most = too_many_regions(scenario)
    if most is not None:
        root["cluster"]["regions"].refuse(
            f"{regions} regions of equal size need a row each to start at, the tables are large "
            f"enough for {most}; write {most} or less"
        )
