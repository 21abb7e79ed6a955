"""What a study asks, written as a file would: the inverse of reading its sections."""

from __future__ import annotations

from sim.scenario.document import Document
from sim.scenario.figures import limit_text
from sim.scenario.quantities import PERCENT, RATE
from sim.scenario.resolved import Expectation
from sim.scenario.resolved_study import Capacity, Precision, Sensitivity


def precision_document(precision: Precision) -> Document:
    """Returns keys of the section ``run``."""
    targets = {str(key): PERCENT.text_of(share) for key, share in precision.targets}
    return {"precision": targets, "max_replications": precision.most_replications}


def capacity_document(capacity: Capacity) -> Document:
    """Returns the section ``capacity``."""
    ends: list[int | str] = [
        int(load) if capacity.load == "workload.threads" else RATE.text_of(load)
        for load in (capacity.low, capacity.high)
    ]
    document: Document = {
        "slo": {str(part.key): limit_text(part.key, part.limit) for part in capacity.slo},
        "load": capacity.load,
        "between": ends,
        "tolerance": PERCENT.text_of(capacity.tolerance),
    }
    prices = {
        profile: {"store": price.store, "tidb_node": price.tidb_node}
        for profile, price in capacity.prices.items()
    }
    return document | ({"prices": prices} if prices else {})


def sensitivity_document(sensitivity: Sensitivity) -> Document:
    """Returns the section ``sensitivity``."""
    return {
        "factors": {
            factor.key: {"between": [factor.low, factor.high], "scale": factor.scale}
            for factor in sensitivity.factors
        },
        "outcomes": [str(outcome) for outcome in sensitivity.outcomes],
        "trajectories": sensitivity.trajectories,
        "levels": sensitivity.levels,
        "keep": sensitivity.keep,
        "samples": sensitivity.samples,
        "seed": sensitivity.seed,
    }


def claim_document(claim: Expectation) -> Document:
    """Returns one entry of the section ``expect``."""
    document = {
        "metric": claim.metric,
        "stat": claim.stat,
        "class": claim.class_,
        "variant": claim.variant,
        "against": claim.against,
        "below": claim.below,
        "above": claim.above,
        "at": dict(claim.at_point) if claim.at_point else None,
    }
    return {key: value for key, value in document.items() if value is not None}
