"""Published metrics of each unit, from the sums that Spark made.

Rates divide by the measured time (after the warm-up), amounts by committed transactions. A counter
that one variant never touched is 0 there, since another variant's has to be compared with it; a
series without values has no latency and stays absent.

Tables have a row a unit and a column a number; NaN is no number. ``asked_metrics`` has a row each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np
import pandas as pd

from analysis.metrics.catalogue import (
    ASKED_FOR,
    AT_LEAST,
    COMMITS,
    COUNTERS,
    METRICS,
    MS_PER_NS,
    SERIES,
    STATIONS_OF,
    MetricKey,
)

FACT_KEY = ["metric", "class", "stat"]
KEY = [*FACT_KEY, "unit"]


def unit_metrics(sums: pd.DataFrame, measured_s: pd.Series[float]) -> pd.DataFrame:
    """Returns published metrics, a row a unit.

    Args:
        sums: of facts; columns are ``metric``, ``class``, ``stat``. A unit's zeros depend on
            which columns there are, so they should be those of the whole study.
        measured_s: by unit, in the same order.

    Returns:
        Columns ``metric``, ``class``, ``stat``, ``unit``, sorted; the rows of ``sums``.
    """
    counters, counts = _by_class(sums, "total"), _by_class(sums, "count")
    parts = [
        _series(sums),
        *_counter_parts(counters, sums.index, measured_s),
        *_new_order_rate(counters, measured_s),
        *_busy(counters),
        *_early_prewrites(counters),
        *_request_latency(counters),
        *_station_latency(counts, counters),
        *_lock_waits(sums, counters),
        *_unfinished(counts, sums.index),
        _failures(counters, sums.index),
    ]
    return pd.concat(parts, axis=1).sort_index(axis=1)


def _series(sums: pd.DataFrame) -> pd.DataFrame:
    """Picks the series that are published, and scales them."""
    published = {
        (series.fact, stat): (metric, series.scale)
        for metric, series in SERIES.items()
        for stat in METRICS[metric].stats
    }
    places, names, scales = [], [], []
    for place, (fact, class_, stat) in enumerate(names_of(sums)):
        if (fact, stat) in published:
            metric, scale = published[fact, stat]
            places.append(place)
            names.append((metric, class_, stat, METRICS[metric].unit))
            scales.append(scale)
    values = sums.to_numpy()[:, places] * np.array(scales, dtype=np.float64)
    return pd.DataFrame(values, index=sums.index, columns=named(names))


def names_of(table: pd.DataFrame) -> list[tuple[str, ...]]:
    """Returns the names of the columns, each as a tuple."""
    levels = [table.columns.get_level_values(level) for level in range(table.columns.nlevels)]
    return list(zip(*levels, strict=True))


def named(names: Iterable[tuple[str, ...]]) -> pd.MultiIndex:
    """Returns metric, class, statistic and unit of each column."""
    columns = list(zip(*names, strict=True)) or [()] * len(KEY)
    return pd.MultiIndex.from_arrays(columns, names=KEY)


def _by_class(sums: pd.DataFrame, wanted: str) -> dict[str, pd.DataFrame]:
    """Returns a statistic as a table a fact: a row a unit, a column a class; 0 where there is none.

    Of a counter it is ``total``, of a series ``count``.
    """
    places: dict[str, dict[str, int]] = {}
    for place, (fact, class_, stat) in enumerate(names_of(sums)):
        if stat == wanted:
            places.setdefault(fact, {})[class_] = place
    numbers = sums.to_numpy(dtype=np.float64)
    return {
        fact: pd.DataFrame(np.nan_to_num(numbers[:, [*of.values()]]), sums.index, [*of])
        for fact, of in places.items()
    }


def _counter_parts(
    counters: dict[str, pd.DataFrame], units: pd.Index[int], measured_s: pd.Series[float]
) -> list[pd.DataFrame]:
    none = pd.DataFrame(index=units)
    commits = counters.get(COMMITS, none).sum(axis=1)
    divisors = {
        "second": measured_s,
        "transaction": commits.where(commits > 0),
        "run": pd.Series(1.0, index=units),
    }
    return [
        _as_metric(
            with_sums(counters.get(counter.fact, none)).div(divisors[counter.per], axis=0), metric
        )
        for metric, counter in COUNTERS.items()
        if counter.always or counter.fact in counters
    ]


def with_sums(by_class: pd.DataFrame) -> pd.DataFrame:
    """Returns the classes with their sums: ``all``, and for ``place/cause`` each part by itself."""
    named = by_class.drop(columns="all", errors="ignore")
    sums = {"all": by_class.sum(axis=1)}
    parts = {name: str(name).split("/") for name in named.columns}
    for part in dict.fromkeys(part for of in parts.values() if len(of) > 1 for part in of):
        sums[part] = named[[name for name, of in parts.items() if part in of]].sum(axis=1)
    return pd.concat([named, pd.DataFrame(sums, index=by_class.index)], axis=1)


def _as_metric(by_class: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Names the columns, which were classes, in full."""
    unit = METRICS[metric].unit
    names = named((metric, str(class_), "mean", unit) for class_ in by_class.columns)
    return by_class.set_axis(names, axis=1)


def _new_order_rate(
    counters: dict[str, pd.DataFrame], measured_s: pd.Series[float]
) -> list[pd.DataFrame]:
    """TPC-C's own figure: new-order commits a minute."""
    commits = counters.get(COMMITS)
    if commits is None or "new_order" not in commits:
        return []
    rate = commits[["new_order"]].div(measured_s / 60.0, axis=0)
    return [_as_metric(rate.rename(columns={"new_order": "all"}), "tpmc")]


def _busy(counters: dict[str, pd.DataFrame]) -> list[pd.DataFrame]:
    """Busy time over capacity by station."""
    if "busy_ns" not in counters or "capacity_ns" not in counters:
        return []
    busy = counters["busy_ns"]
    capacity = counters["capacity_ns"].reindex(columns=busy.columns)
    share = busy / capacity.where(capacity > 0)
    return [
        _as_metric(share[[name for name in share.columns if name in stations]], metric)
        for metric, stations in STATIONS_OF.items()
    ]


def _early_prewrites(counters: dict[str, pd.DataFrame]) -> list[pd.DataFrame]:
    """The share of prewrites before their own lock's apply that waited for it; none, no share."""
    early = counters.get("early_prewrites")
    if early is None:
        return []
    total = early.sum(axis=1)
    waited = early.reindex(columns=["waited"], fill_value=0.0).div(total.where(total > 0), axis=0)
    return [_as_metric(waited.rename(columns={"waited": "all"}), "early_prewrites_waited")]


def _request_latency(counters: dict[str, pd.DataFrame]) -> list[pd.DataFrame]:
    """Mean time of a request by kind, and of all, as TiDB sees it and inside the store."""
    if "requests_answered" not in counters:
        return []
    answered = with_sums(counters["requests_answered"])
    asked = answered.where(answered > 0)
    times = {"request_latency_ms": "request_ns", "request_service_ms": "request_service_ns"}
    return [
        _as_metric(
            # A kind of which no answer was a success has no time inside the store.
            with_sums(counters[fact]).reindex(columns=answered.columns) / asked * MS_PER_NS,
            metric,
        )
        for metric, fact in times.items()
        if fact in counters
    ]


def _failures(counters: dict[str, pd.DataFrame], units: pd.Index[int]) -> pd.DataFrame:
    """The share of transactions that failed of those that ended; none, no share."""
    aborts = counters.get("txn_aborts", pd.DataFrame(index=units))
    ended = _ended(counters, units)
    failed = aborts.drop(columns=ASKED_FOR, errors="ignore").sum(axis=1)
    return _as_metric((failed / ended.where(ended > 0)).to_frame("all"), "txn_failures")


def _ended(counters: dict[str, pd.DataFrame], units: pd.Index[int]) -> pd.Series[float]:
    """Transactions that ended, with a commit or without."""
    none = pd.DataFrame(index=units)
    return counters.get(COMMITS, none).sum(axis=1) + counters.get("txn_aborts", none).sum(axis=1)


def _station_latency(
    counts: dict[str, pd.DataFrame], counters: dict[str, pd.DataFrame]
) -> list[pd.DataFrame]:
    """Mean time of a lock request at each station: over its path, and over all lock requests."""
    if "lock_station_ns" not in counters:
        return []
    by_station = counters["lock_station_ns"]
    requests = counts.get("lock_latency", pd.DataFrame(index=by_station.index))
    columns: dict[str, pd.Series[float]] = {}
    for name in map(str, by_station.columns):
        path, _, station = name.partition("/")
        if path in requests:
            columns[name] = by_station[name] / requests[path]
            before = columns.get(station, 0.0)
            columns[station] = before + by_station[name] / requests["all"]
    table = pd.DataFrame(columns, index=by_station.index).replace(np.inf, np.nan)
    return [_as_metric(table * MS_PER_NS, "lock_station_ms")]


def _lock_waits(sums: pd.DataFrame, counters: dict[str, pd.DataFrame]) -> list[pd.DataFrame]:
    """Time spent waiting for others' locks, per transaction that ended; 0 where none waited."""
    if ("lock_wait", "all", "count") not in sums:
        return []
    waits = sums["lock_wait", "all", "count"].mul(sums["lock_wait", "all", "mean"]).fillna(0.0)
    ended = _ended(counters, sums.index)
    each = (waits / ended.where(ended > 0) * MS_PER_NS).to_frame("all")
    return [_as_metric(each, "lock_wait_per_txn_ms")]


def _unfinished(counts: dict[str, pd.DataFrame], units: pd.Index[int]) -> list[pd.DataFrame]:
    """How many transactions and requests had not ended; 0 in a unit without them."""
    facts = {"txns_unfinished": "txn_unfinished", "requests_unfinished": "request_unfinished"}
    none = pd.DataFrame(index=units)
    return [_as_metric(counts.get(fact, none), metric) for metric, fact in facts.items()]


def asked_metrics(
    sums: pd.DataFrame, measured_s: pd.Series[float], keys: Sequence[MetricKey] | None
) -> pd.DataFrame:
    """Returns published numbers as rows.

    Args:
        sums: of facts, a row a unit; columns ``metric``, ``class``, ``stat``.
        measured_s: by unit, in the same order.
        keys: the numbers wanted; None for all.

    Returns:
        ``place`` (of the unit in ``sums``), ``metric``, ``class``, ``stat``, ``unit``, ``value``;
        a number that a unit does not have is absent.
    """
    published = unit_metrics(sums, measured_s)
    if keys is not None:
        wanted: set[tuple[str, ...]] = {(key.metric, key.class_, key.stat) for key in keys}
        names = [name[:3] for name in names_of(published)]
        there = published.iloc[:, [place for place, name in enumerate(names) if name in wanted]]
        uncounted = wanted.difference(names)
        published = pd.concat([there, _zeros(uncounted, sums)], axis=1)
    tall = published.set_axis(pd.RangeIndex(len(published)), axis=0).melt(ignore_index=False)
    tall = tall.dropna(subset="value").rename_axis("place").reset_index()
    return tall[["place", *KEY, "value"]]


def _zeros(wanted: Collection[tuple[str, ...]], sums: pd.DataFrame) -> pd.DataFrame:
    """Returns the counters among the numbers that no unit has: 0, or none without a commit."""
    commits = _by_class(sums, "total").get(COMMITS, pd.DataFrame(index=sums.index)).sum(axis=1)
    columns = {
        (metric, class_, stat, METRICS[metric].unit): 0.0 * commits.where(commits > 0)
        if COUNTERS[metric].per == "transaction"
        else 0.0 * commits
        for metric, class_, stat in sorted(wanted)
        if metric in COUNTERS and stat == "mean"
    }
    table = pd.DataFrame(dict(enumerate(columns.values())), index=sums.index)
    return table.set_axis(named(columns), axis=1)


def lower_bounds(sums: pd.DataFrame) -> pd.DataFrame:
    """Returns which published numbers are lower bounds, a row a unit: what never ended counts.

    Args:
        sums: as for ``unit_metrics``.

    Returns:
        Columns as of ``unit_metrics``, of those that are a bound in some unit; true or false.
    """
    stats = enumerate(sums.columns.get_level_values("stat"))
    bounds = sums.iloc[:, [place for place, stat in stats if stat.startswith(AT_LEAST)]]
    of_fact = {series.fact: metric for metric, series in SERIES.items()}
    names = [
        (of_fact[fact], class_, stat.removeprefix(AT_LEAST), METRICS[of_fact[fact]].unit)
        for fact, class_, stat in names_of(bounds)
    ]
    return bounds.notna().set_axis(named(names), axis=1)
