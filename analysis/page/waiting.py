"""What transactions wait for: a full station, or the rows that others have locked."""

from __future__ import annotations

from typing import Final, NamedTuple

from analysis.metrics.catalogue import STATIONS, STATIONS_OF, MetricKey
from analysis.metrics.rounding import NOT_KNOWN
from analysis.page.findings import Findings
from analysis.report.capacity_table import FULL
from analysis.report.cells import plain_value
from sim.fact_names import LOG_WRITER

WAITS: Final = MetricKey("lock_wait_per_txn_ms")
TXNS: Final = MetricKey("txn_latency_ms")

_TELLING: Final = 0.1
"""Share of a transaction's time from which an answer tells of waits for others' locks."""
_MOST: Final = 0.5
"""Share from which they, and no station, are what limits."""


class Busiest(NamedTuple):
    """The station that has least left."""

    class_: str
    share: float

    @property
    def name(self) -> str:
        """What it is called in sentences."""
        return STATIONS[self.class_]

    @property
    def is_full(self) -> bool:
        """Whether it limits what can be done."""
        return self.share >= FULL


def busy_keys(found: Findings, point: int) -> list[MetricKey]:
    """Returns the stations of a point, the busiest in any variant first."""
    keys = [
        MetricKey(metric, class_)
        for metric in STATIONS_OF
        for class_ in found.classes(point, metric)
    ]
    return sorted(keys, key=lambda key: -max(found.amount(point, of, key) for of in found.variants))


def busiest(found: Findings, point: int, variant: str) -> Busiest | None:
    """Returns a variant's busiest station at a point."""
    return busiest_by_case(found).get((point, variant))


def busiest_by_case(found: Findings) -> dict[tuple[int, str], Busiest]:
    """Returns the busiest station by point and variant, the log's writer aside, of every point."""
    columns = found.columns()
    busy = columns[columns["metric"].isin(STATIONS_OF) & (columns["class"] != LOG_WRITER)]
    busy = busy.dropna(subset=["value"])
    if busy.empty:
        return {}
    top = busy.loc[busy.groupby(["point_index", "variant"])["value"].idxmax()]
    return {
        (int(index), str(name)): Busiest(class_, float(value))
        for index, name, class_, value in zip(
            top["point_index"], top["variant"], top["class"], top["value"], strict=True
        )
    }


def waiting_share(found: Findings, point: int, variant: str) -> float:
    """Returns the share of transactions' time that is waiting for other transactions' locks."""
    waits, whole = (found.value(point, variant, key) for key in (WAITS, TXNS))
    if not (waits.is_there and whole.is_there) or whole.at_least or not whole.value:
        return 0.0
    return min(1.0, waits.value / whole.value)


def limit_text(found: Findings, point: int, variant: str) -> str:
    """Returns what limits a variant, ``limited by the station “store pollers”, 93 % busy``."""
    station, waiting = busiest(found, point, variant), waiting_share(found, point, variant)
    if station is None:
        return ""
    busy = f"“{station.name}”, {100 * station.share:.0f} % busy"
    if station.is_full:
        return f"limited by the station {busy}"
    if waiting >= _MOST:
        return (
            f"limited by rows that several transactions want: {100 * waiting:.0f} % of their time "
            f"they wait for each other's locks; the busiest station is {busy}"
        )
    return f"no station is full; the busiest station is {busy}"


def waits_words(found: Findings, point: int) -> str:
    """Returns how long transactions wait for each other; nothing where that is hardly ever."""
    names = [name for name in found.told if not found.value(point, name, WAITS).refused]
    if not any(waiting_share(found, point, name) >= _TELLING for name in names):
        return ""
    first, *others = (_waits(found, point, name) for name in names)
    whole = first.replace(" of ", " of a transaction's ", 1)
    return (
        "Waits for other transactions' locks, which are no part of a lock's latency, take "
        f"{', '.join([whole, *others])}."
    )


def full_words(found: Findings, point: int) -> str:
    """Returns which station is full, and in which variant; nothing where none is."""
    names = found.told
    stations = {name: busiest(found, point, name) for name in names}
    full = {name: of for name, of in stations.items() if of is not None and of.is_full}
    if not full:
        return ""
    if len(found.variants) == 1:
        return f"What limits it: {_busy(full[names[0]])}."
    without = [name for name in names if name not in full]
    only = f"; no station is full with {' or '.join(without)}" if without else ""
    shares = [f"{_busy(of)} with {name}" for name, of in full.items()]
    if len({of.name for of in full.values()}) == 1:
        shares[1:] = [f"{100 * full[name].share:.0f} % with {name}" for name in list(full)[1:]]
    return f"What limits it: {' and '.join(shares)}{only}."


def full_points_words(found: Findings) -> str:
    """Returns at how many points of a sweep a station is full, and which; nothing where none is."""
    cases = busiest_by_case(found)
    parts = []
    for name in found.told:
        full = [of for (_, variant), of in cases.items() if variant == name and of.is_full]
        if full:
            stations = " or ".join(dict.fromkeys(of.name for of in full))
            which = f" with {name}" if len(found.variants) > 1 else ""
            most = 100 * max(of.share for of in full)
            parts.append(f"at {len(full)}{which} ({stations}, up to {most:.0f} % busy)")
    if not parts:
        return ""
    return f"Of {len(found.points)} points a station is full {', '.join(parts)}."


def _busy(station: Busiest) -> str:
    return f"{station.name}, {100 * station.share:.0f} % busy"


def _waits(found: Findings, point: int, variant: str) -> str:
    waits, whole = (found.value(point, variant, key) for key in (WAITS, TXNS))
    time = plain_value(whole) if whole.is_there else NOT_KNOWN
    of = "" if time == NOT_KNOWN else f" of {time} ms"
    if waits.is_there and whole.is_there and not whole.at_least and waits.value >= whole.value:
        return f"nearly all{of} with {variant}"  # waits that ended, of transactions that had not
    part = plain_value(waits) if waits.is_there else "0"
    if part == NOT_KNOWN:
        return f"an unknown part{of} with {variant}"
    return f"{part}{of or ' ms'} with {variant}"
