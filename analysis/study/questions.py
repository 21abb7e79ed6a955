"""``run``, ``sensitivity`` and ``capacity`` resolved, and what they may not say together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from analysis.metrics.catalogue import MetricKey
from analysis.study.figures import refuse_twice
from analysis.study.overrides import Overrides, overlap, plain_point
from analysis.study.run import RunSection
from analysis.study.sections import ALL_PROFILES, Capacity, Range, Sensitivity
from analysis.study.study import CaseResolver
from analysis.study.sweep import ranges_of
from sim.scenario.problems import shown, suggestion
from sim.scenario.profiles import profiles
from sim.scenario.quantities import RATE, QuantityError
from sim.scenario.resolved import Scenario
from sim.scenario.schema.arrival import Workload
from sim.scenario.schema.workload import TpccMix
from sim.scenario.section import keys_of, validated
from sim.scenario.tree import Place, dotted, node_of

_TRIED_SHARES = (0.0, 0.37, 1.0)
"""Where ranges are tried: both ends, and a place at which numbers are not whole by accident."""


def check_one_question(root: Place) -> None:
    """Refuses sections that decide in two ways what is run."""
    precision, capacity = root["run"]["precision"], root["capacity"]
    sensitivity, sweep = root["sensitivity"], root["sweep"]
    asked = [each for each in (precision, capacity, sensitivity) if each.value is not None]
    pairs = [(asked[0], other) for other in asked[1:]]
    if sensitivity.value is not None and sweep.value is not None:
        pairs.append((sensitivity, sweep))
    for first, second in pairs:
        second.refuse_key(f"excludes {dotted(first.path)}; keep one of the two")


def check_rounds(root: Place) -> None:
    """Refuses an end of rounds where there are none, unless their number was fixed over it.

    What a file that is extended says of its rounds is no mistake of the file that fixes them, and
    what a file says none of the command line that does.
    """
    most = root["run"]["max_replications"]
    if _is_in_vain(root, most, root["run"]["replications"]):
        most.refuse("has no effect: no precision is asked for; write run.precision, or remove it")


def check_claims_precision(root: Place) -> None:
    """Refuses a claim's precision where something else says what is run.

    As with the end of rounds, whoever extends a file, or types a command, has the say over it.
    """
    run, claims = root["run"], root["expect"]
    deciding = [root["capacity"], root["sensitivity"], run["precision"], run["replications"]]
    decides = next((each for each in deciding if each.value and each.value != "auto"), None)
    if decides is None or not isinstance(claims.value, list):
        return
    for number in range(len(claims.value)):
        precision = claims[number]["precision"]
        if _is_in_vain(root, precision, decides):
            which = dotted(decides.path)
            precision.refuse(f"has no effect: {which} says what is run; remove one of the two")


def _is_in_vain(root: Place, key: Place, decides: Place) -> bool:
    """Returns whether a key is written over what decides without it, and not in an extended file.

    A file that is extended was judged when it stood alone.
    """
    over = 1 if decides.value is None else max(1, _rank(root, decides))
    return key.value is not None and _rank(root, key) >= over


def _rank(root: Place, key: Place) -> int:
    """Returns 0 for a key of a file that is extended, 1 of the study's own, 2 of the command line.

    The higher rank has the say.
    """
    mark = key.node.mark
    if not mark.line:
        return 2
    return 1 if mark.file == root.node.mark.file else 0


def run_of(place: Place) -> RunSection | None:
    """Returns how often and how long units are run, or None after noting its problems.

    What follows from asking for a precision is filled in.
    """
    run = validated(RunSection, place)
    if run is None:
        return None
    run = replace(run, batches=min(run.batches, run.measure_ns // run.window_ns))
    if run.precision is None:
        return run
    refuse_twice(place["precision"], place["precision"].node.entries)
    return replace(run, max_replications=run.most_replications)


def sensitivity_of(
    place: Place, variants: Mapping[str, Overrides], run_seed: int
) -> Sensitivity | None:
    """Returns what a study varies, or None after noting its problems."""
    before = len(place.problems)
    section = None if place.value is None else validated(Sensitivity, place)
    if section is None:
        return None
    factors = ranges_of(place["factors"], variants)
    refuse_twice(place["outcomes"], map(str, section.outcomes))
    for number, factor in enumerate(factors):
        for other in factors[:number]:
            if overlap(factor.key, other.key):
                message = f"is a part of {other.key}, or the other way round; keep one"
                place["factors"][factor.key].refuse_key(message)
    if len(place.problems) > before:
        return None
    return replace(
        section,
        factors=tuple(factors),
        keep=min(section.keep, len(factors)),
        seed=run_seed if place["seed"].value is None else section.seed,
    )


def check_sensitivity(
    sensitivity: Sensitivity | None, place: Place, resolver: CaseResolver
) -> None:
    """Refuses ranges whose ends make no valid scenario, one by one and all together."""
    factors = () if sensitivity is None else sensitivity.factors

    def end(factor: Range, share: float) -> Overrides:
        mark = place["factors"][factor.key]["between"].node.mark
        return {factor.key: node_of(factor.at(share), mark)}

    for variant in resolver.variants:
        for share in _TRIED_SHARES:
            together: Overrides = {}
            for factor in factors:
                resolver.resolve(end(factor, share), variant, place.problems)
                together |= end(factor, share)
            if not place.problems:
                resolver.resolve(together, variant, place.problems)


def capacity_of(
    place: Place, variants: Mapping[str, Overrides], axes: Sequence[str]
) -> Capacity | None:
    """Returns the search that a study asks for, or None after noting its problems."""
    before = len(place.problems)
    section = None if place.value is None else validated(Capacity, place)
    if section is None:
        return None
    _check_free(place["load"], section.load, variants, axes)
    _check_prices(section, place["prices"])
    loads = _loads(section, place["between"])
    return None if len(place.problems) > before else replace(section, between=loads)


def _check_free(
    place: Place, key: str, variants: Mapping[str, Overrides], axes: Sequence[str]
) -> None:
    """Refuses a key that a variant or the sweep changes as well."""
    changing = [
        f"variant {name}"
        for name, overrides in variants.items()
        if any(overlap(key, other) for other in overrides)
    ]
    if any(overlap(key, axis) for axis in axes):
        changing.append("the sweep")
    for who in changing:
        place.refuse(f"{who} changes {key} as well; leave it to one of the two")


def _loads(section: Capacity, place: Place) -> tuple[float, float]:
    loads = []
    for number, value in enumerate(section.between):
        try:
            loads.append(_load(section.load, value))
        except QuantityError as error:
            place[number].refuse(str(error))
    if len(loads) < 2:
        return 0, 0
    if not loads[0] < loads[1]:
        first, second = map(shown, section.between)
        place.refuse(f"{first} is not less than {second}; write the smaller one first")
    return loads[0], loads[1]


def _load(key: str, value: object) -> float:
    """Returns threads, or transactions a second.

    Raises:
        QuantityError: if it is no such load.
    """
    if key == "workload.rate":
        return float(RATE.parse(value))
    if isinstance(value, bool) or not isinstance(value, int):
        raise QuantityError(
            f"threads are a whole number, not {shown(value)}; write, for example, 50"
        )
    return float(value)


def _check_prices(section: Capacity, place: Place) -> None:
    known = [*profiles("machines"), ALL_PROFILES]
    for name in section.prices or {}:
        if name not in known:
            place[name].refuse_key(f"no machine {shown(name)}; {suggestion(name, known)}")


def check_capacity(
    capacity: Capacity | None, place: Place, points: Sequence[Overrides], resolver: CaseResolver
) -> None:
    """Refuses a search that a case cannot take part in: another load, an invalid end."""
    if capacity is None:
        return
    for point, variant in [(point, variant) for point in points for variant in resolver.variants]:
        scenario = resolver.scenario(plain_point(point), variant)
        for word, message in (
            ("load", _other_load(capacity, scenario)),
            ("prices", _no_price(capacity, scenario)),
        ):
            if message is not None:
                place[word].refuse(message)
                return
        for end in place["between"].below().values():
            resolver.resolve({**point, capacity.load: end.node}, variant, place.problems)
        if place.problems:
            return


def _other_load(capacity: Capacity, scenario: Scenario) -> str | None:
    workload = scenario.workload
    if capacity.load == "workload.rate" and workload.rate_per_s is None:
        return (f"the workload has threads ({workload.threads}); write load: workload.threads, or "
                "give the workload a rate in place of them")  # fmt: skip
    if capacity.load == "workload.threads" and workload.threads is None:
        return (f"the workload has a rate ({RATE.text_of(workload.rate_per_s or 0)}); write load: "
                "workload.rate, or give the workload threads in place of it")  # fmt: skip
    return None


def _no_price(capacity: Capacity, scenario: Scenario) -> str | None:
    profile = scenario.hardware.profile
    if not capacity.prices or ALL_PROFILES in capacity.prices or profile in capacity.prices:
        return None
    return f"no price of {profile}; write {profile}: {{store: ..., tidb_node: ...}}"


_BY_TRANSACTION: Final = ("txn_latency_ms", "txn_per_s")


def transaction_named(key: MetricKey) -> str | None:
    """Returns the transaction that a figure is of; None: it is of no one in particular."""
    return key.class_ if key.metric in _BY_TRANSACTION and key.class_ != "all" else None


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
    asked = [(place, name) for place, key in _asked(root) if (name := transaction_named(key))]
    if not asked:
        return
    known: dict[str, None] = {}
    for point in points:
        for variant in resolver.variants:
            names = transaction_names(resolver.scenario(plain_point(point), variant).workload)
            if names is None:
                return
            known |= dict.fromkeys(names)
    for place, name in asked:
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
