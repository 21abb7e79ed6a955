"""Names of transactions in the keys of figures: one that a study has nowhere is misspelt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from analysis.metrics.catalogue import MetricKey
from analysis.study.overrides import Overrides
from analysis.study.study import CaseResolver
from sim.scenario.problems import shown, suggestion
from sim.scenario.schema.arrival import Workload
from sim.scenario.schema.workload import TpccMix
from sim.scenario.section import keys_of
from sim.scenario.tree import Place

_BY_TRANSACTION: Final = ("txn_latency_ms", "txn_per_s")


def transaction_named(key: MetricKey) -> str | None:
    """Returns the transaction that a figure is of; None: it is of no one in particular."""
    is_of_one = key.metric in _BY_TRANSACTION and key.class_ != "all"
    return key.class_ if is_of_one else None


def transaction_names(workload: Workload) -> list[str] | None:
    """Returns how a workload's transactions are called; None if its kind does not tell."""
    if workload.kind == "tpcc":
        return list(keys_of(TpccMix))
    if workload.kind == "custom":
        return [transaction.name for transaction in workload.transactions]
    return None


def check_transaction_names(
    root: Place, points: Sequence[Overrides], resolver: CaseResolver
) -> None:
    """Refuses figures that are asked for of a transaction that no case has."""
    asked = [(place, key, name) for place, key in _asked(root) if (name := transaction_named(key))]
    if not asked:
        return
    known: dict[str, None] = {}
    for point in points:
        plain = {key: node.plain() for key, node in point.items()}
        for variant in resolver.variants:
            names = transaction_names(resolver.scenario(plain, variant).workload)
            if names is None:
                return
            known |= dict.fromkeys(names)
    for place, _, name in asked:
        if name not in known:
            place.refuse_key(f"no transaction {shown(name)}; {suggestion(name, list(known))}")


def _asked(root: Place) -> Iterator[tuple[Place, MetricKey]]:
    """Yields what objectives, precision and sensitivity are about, each with its place."""
    for section in (root["capacity"]["slo"], root["run"]["precision"]):
        for text, place in section.below().items() if isinstance(section.value, dict) else ():
            if place.value is not None:
                yield place, MetricKey.parse(text)
    outcomes = root["sensitivity"]["outcomes"]
    for place in outcomes.below().values() if isinstance(outcomes.value, list) else ():
        yield place, MetricKey.parse(str(place.value))
