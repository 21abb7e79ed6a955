"""Published metrics of each replication, from the sums that Spark made.

Rates divide by the measured time (after the warm-up), amounts by committed transactions. A counter
that one variant never touched is 0 there, since another variant's has to be compared with it; a
series without values has no latency and stays absent.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.metrics.catalogue import COUNTERS, MS_PER_NS, SERIES, CounterMetric

KEY = ["metric", "class", "stat", "unit"]


def unit_metrics(values: pd.DataFrame, units: pd.DataFrame) -> pd.DataFrame:
    """Returns published metrics, one row per unit and metric.

    Args:
        values: ``unit_hash``, ``metric``, ``class``, ``stat``, ``value`` of facts.
        units: ``unit_hash`` and ``measured_s``.

    Returns:
        ``unit_hash``, ``metric``, ``class``, ``stat``, ``unit``, ``value``.
    """
    counters = _counter_wide(values, units)
    parts = [
        *_series_parts(values),
        *_counter_parts(counters, units),
        *_new_order_rate(counters, units),
        *_busy(counters),
        *_station_latency(values, counters),
    ]
    table = pd.concat([part for part in parts if not part.empty], ignore_index=True)
    return table[["unit_hash", *KEY, "value"]]


def _series_parts(values: pd.DataFrame) -> list[pd.DataFrame]:
    parts = []
    for series in SERIES:
        chosen = values[(values["metric"] == series.fact) & values["stat"].isin(series.stats)]
        scaled = chosen["value"] * series.scale
        parts.append(chosen.assign(metric=series.metric, unit=series.unit, value=scaled))
    return parts


def _counter_wide(values: pd.DataFrame, units: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Returns by counter a table of totals: a row a unit, a column a class."""
    totals = values[values["stat"] == "total"]
    order = list(units["unit_hash"])
    return {
        str(fact): rows.pivot(index="unit_hash", columns="class", values="value")
        .reindex(order)
        .fillna(0.0)
        for fact, rows in totals.groupby("metric", sort=True)
    }


def _counter_parts(counters: dict[str, pd.DataFrame], units: pd.DataFrame) -> list[pd.DataFrame]:
    none = pd.DataFrame(index=pd.Index(units["unit_hash"], name="unit_hash"))
    commits = counters.get("txns", none).sum(axis=1)
    divisors = {
        "second": units.set_index("unit_hash")["measured_s"],
        "transaction": commits.where(commits > 0),
        "run": pd.Series(1.0, index=none.index),
    }
    return [
        _published(with_sums(counters.get(counter.fact, none)), counter, divisors[counter.per])
        for counter in COUNTERS
        if counter.always or counter.fact in counters
    ]


def with_sums(by_class: pd.DataFrame) -> pd.DataFrame:
    """Returns the classes with their sums: ``all``, and for ``place/cause`` each part by itself."""
    named = by_class.drop(columns="all", errors="ignore")
    sums = {"all": by_class.sum(axis=1)}
    for part in _parts_of([str(name) for name in named.columns]):
        members = [name for name in named.columns if part in str(name).split("/")]
        sums[part] = named[members].sum(axis=1)
    return pd.concat([named, pd.DataFrame(sums, index=by_class.index)], axis=1)


def _parts_of(classes: list[str]) -> list[str]:
    parts = [part for name in classes if "/" in name for part in name.split("/")]
    return list(dict.fromkeys(parts))


def _published(
    by_class: pd.DataFrame, counter: CounterMetric, divisor: pd.Series[float]
) -> pd.DataFrame:
    return _tall(by_class.div(divisor, axis=0), counter.metric, counter.unit)


def _tall(by_class: pd.DataFrame, metric: str, unit: str) -> pd.DataFrame:
    """Turns a column a class into a row a class, with stat ``mean``."""
    by_class = by_class.rename_axis(index="unit_hash", columns="class")
    tall = by_class.reset_index().melt(id_vars="unit_hash", var_name="class", value_name="value")
    return tall.assign(metric=metric, stat="mean", unit=unit).dropna(subset="value")


def _new_order_rate(counters: dict[str, pd.DataFrame], units: pd.DataFrame) -> list[pd.DataFrame]:
    """TPC-C's own figure: new-order commits a minute."""
    commits = counters.get("txns")
    if commits is None or "new_order" not in commits:
        return []
    minutes = units.set_index("unit_hash")["measured_s"] / 60.0
    rate = commits[["new_order"]].div(minutes, axis=0).rename(columns={"new_order": "all"})
    return [_tall(rate, "tpmc", "1/min")]


def _busy(counters: dict[str, pd.DataFrame]) -> list[pd.DataFrame]:
    """Busy time over capacity by station; stores' stations of one name also together."""
    if "busy_ns" not in counters or "capacity_ns" not in counters:
        return []
    busy = _with_station_sums(counters["busy_ns"])
    capacity = _with_station_sums(counters["capacity_ns"]).reindex(columns=busy.columns)
    share = busy / capacity.where(capacity > 0)
    disks = [name for name in share.columns if _is_disk(str(name))]
    cpus = [name for name in share.columns if not _is_disk(str(name))]
    return [_tall(share[disks], "disk_busy", ""), _tall(share[cpus], "cpu_busy", "")]


def _is_disk(station: str) -> bool:
    """Whether a station waits for a device: a disk, or the one writer of a log."""
    return any(word in station for word in ("disk", "raft_log", "kv_wal"))


def _with_station_sums(by_station: pd.DataFrame) -> pd.DataFrame:
    """Adds ``name`` over all ``store-1/name``: one figure for all stores."""
    places = {str(name): str(name).partition("/")[2] for name in by_station.columns}
    sums = {
        place: by_station[[name for name, of in places.items() if of == place]].sum(axis=1)
        for place in dict.fromkeys(places.values())
        if place and place not in by_station
    }
    return pd.concat([by_station, pd.DataFrame(sums, index=by_station.index)], axis=1)


def _station_latency(values: pd.DataFrame, counters: dict[str, pd.DataFrame]) -> list[pd.DataFrame]:
    """Mean time of a lock request at each station: over its path, and over all lock requests."""
    if "lock_station_ns" not in counters:
        return []
    by_station = counters["lock_station_ns"]
    answered = values[(values["metric"] == "lock_latency") & (values["stat"] == "count")]
    requests = answered.pivot(index="unit_hash", columns="class", values="value").reindex(
        by_station.index
    )
    columns: dict[str, pd.Series[float]] = {}
    for name in map(str, by_station.columns):
        path, _, station = name.partition("/")
        if path in requests:
            columns[name] = by_station[name] / requests[path]
            before = columns.get(station, 0.0)
            columns[station] = before + by_station[name] / requests["all"]
    table = pd.DataFrame(columns).replace(np.inf, np.nan) * MS_PER_NS
    return [_tall(table, "lock_station_ms", "ms")]
