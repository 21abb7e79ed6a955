"""What a capacity costs: per hour, per 1,000 transactions, and which cases are not worth it.

Pareto: a case is kept unless another one costs no more an hour and carries no less, and is better
in one of the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

SECONDS_PER_HOUR: Final = 3600


def with_costs(
    cases: Sequence[Mapping[str, Any]], per_hour: Sequence[float | None]
) -> list[dict[str, Any]]:
    """Returns cases with costs, in the currency of the prices; None without a price or capacity.

    Args:
        cases: with ``txn_per_s``, the throughput at the capacity.
        per_hour: price of each case's nodes.
    """
    both = [(price, case["txn_per_s"]) for case, price in zip(cases, per_hour, strict=True)]
    return [
        {
            **case,
            "cost_per_hour": price,
            "cost_per_1000_txn": _per_1000(price, case["txn_per_s"]),
            "pareto": None
            if price is None or case["txn_per_s"] is None
            else not any(_beats(other, (price, case["txn_per_s"])) for other in both),
        }
        for case, price in zip(cases, per_hour, strict=True)
    ]


def _per_1000(price: float | None, txn_per_s: float | None) -> float | None:
    if price is None or not txn_per_s:
        return None
    return float(f"{1000 * price / (txn_per_s * SECONDS_PER_HOUR):.10g}")


def _beats(other: tuple[float | None, float | None], one: tuple[float, float]) -> bool:
    price, carried = other
    if price is None or carried is None:
        return False
    return price <= one[0] and carried >= one[1] and (price < one[0] or carried > one[1])
