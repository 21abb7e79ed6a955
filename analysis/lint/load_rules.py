"""Is more asked for than any cluster of this size does?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from analysis.lint.scenario_warning import LintedCase, ScenarioWarning

FAR_TOO_MUCH: Final = 1.5
"""Utilisation from which the estimate, good to a quarter, leaves no doubt; below it a study may
want to see where a cluster gives in."""


def beyond_capacity(cases: Iterable[LintedCase]) -> Iterator[ScenarioWarning]:
    """Yields a rate at which the first case that has the highest of all would only pile up work."""
    most = max(cases, key=lambda case: case.scenario.workload.rate_per_s or 0.0).scenario
    rate_per_s = most.workload.rate_per_s
    if rate_per_s is None:
        return
    from sim.estimate import estimate, has_estimate  # A closed loop begins without it.

    if not has_estimate(most):
        return
    busiest = estimate(most).busiest
    if busiest.used < FAR_TOO_MUCH:
        return
    percent = f"{100 * busiest.used:.0f} %"
    carried = float(f"{rate_per_s / busiest.used:.2g}")
    yield ScenarioWarning(
        "workload.rate",
        f"{busiest.name} would have to be {percent} busy: what arrives piles up, "
        f"and each unit takes long; about {carried:,.10g}/s is what it carries (explain says more)",
    )
