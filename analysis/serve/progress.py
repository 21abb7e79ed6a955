"""How far a run is, from its folder alone: units, figures that narrow, time left.

What is shown is what ``status`` and the run itself show. A unit that is done is read once; the
folder is listed at every look.
"""

from __future__ import annotations

import json
import time
from calendar import timegm
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from analysis.page.charts import chart_looks
from analysis.running.early_figures import (
    LATENCIES,
    EarlyLatency,
    early_latency,
    mean_words,
    shared_fact,
)
from analysis.serve.studies import LONGEST_FACTS_BYTES, LONGEST_RECORD_BYTES, NoStudyError, Studies
from analysis.statistics.intervals import mean_and_ends
from analysis.study.ledger import DAMAGED, STATES, StudyState, read_failure
from analysis.study.parquet_sink import PROGRESS_FILE
from analysis.study.study_folder import Holder, StudyFolderError
from analysis.study.unit_folder import FAILED_SUFFIX, TEMPORARY_PREFIX, UNIT_FILE
from analysis.study.units import PLAN_FILE, Unit
from sim.record.facts import MOMENTS
from sim.units import NS_PER_S

MOST_READ: Final = 300
"""Units of a study whose figures are followed; with more of them, units are only counted."""
_MOST_FAILURES: Final = 10


@dataclass(frozen=True, slots=True)
class UnitSeen:
    """What is shown of a unit that is done."""

    ended_s: float
    """Seconds since 1970."""
    wall_s: float
    txn_per_s: float
    """Committed in a simulated second, warm-up included."""
    latency: EarlyLatency | None
    """Its mean, as of one batch."""

    @classmethod
    def of(cls, record: Any, ended_s: float, latency: EarlyLatency | None) -> UnitSeen:
        """Returns what a unit's record says."""
        rate = record["transactions"] / (record["simulated_ns"] / NS_PER_S)
        return cls(ended_s, float(record["wall_s"]), rate, latency)


class ProgressReader:
    """Reads how far studies are; remembers units that are done."""

    def __init__(self, studies: Studies) -> None:
        """Takes the studies."""
        self._studies = studies
        self._seen: dict[tuple[str, str, int], UnitSeen | None] = {}

    def progress(self, study: str) -> dict[str, Any]:
        """Returns what a page shows of a study's run.

        Raises:
            NoStudyError: if there is no such study, or it has no plan.
        """
        folder = self._studies.folder(study)
        self._studies.file(study, PLAN_FILE)
        try:
            there = StudyState.now(folder)
        except StudyFolderError as error:
            raise NoStudyError(str(error)) from error
        if len(there.by_unit) <= MOST_READ:
            there = there.but_cut()
        holder, done, counts = there.holder, self._done(study, there), there.counts()
        fact = shared_fact(seen.latency.fact for seen in done.values() if seen.latency)
        return {
            "units": _counted(counts) | {"asked": len(there.by_unit)},
            "running": holder is not None,
            "held_by": None if holder is None else str(holder),
            "left_s": _left_s(counts, done, holder),
            "latency": f"{LATENCIES[fact]}, mean (ms)",
            "no_figures": _why_no_figures(there),
            "variants": _by_variant(there, done, fact),
            "now": self._now(study, there, done),
            "failures": self._failures(study, there),
        }

    def _done(self, study: str, there: StudyState) -> dict[Unit, UnitSeen]:
        """Returns the units that are done and can be read, in the order in which they ended."""
        if len(there.by_unit) > MOST_READ:
            return {}
        found = [(unit, self._unit(study, unit)) for unit in there.units("done")]
        seen = [(unit, one) for unit, one in found if one is not None]
        return dict(sorted(seen, key=lambda pair: pair[1].ended_s))

    def _unit(self, study: str, unit: Unit) -> UnitSeen | None:
        folder = f"units/{unit.unit_hash}"
        try:
            record = self._studies.file(study, f"{folder}/{UNIT_FILE}")
            written_ns = record.stat().st_mtime_ns
            key = (study, unit.unit_hash, written_ns)
            if key not in self._seen:
                said = self._studies.read(study, f"{folder}/{UNIT_FILE}", LONGEST_RECORD_BYTES)
                facts = self._studies.file(study, f"{folder}/{MOMENTS}.parquet")
                short_enough = facts.stat().st_size <= LONGEST_FACTS_BYTES
                latency = early_latency(facts.parent, batches=1) if short_enough else None
                self._seen[key] = UnitSeen.of(json.loads(said), written_ns / NS_PER_S, latency)
            return self._seen[key]
        except (NoStudyError, OSError, ValueError, KeyError, TypeError, ZeroDivisionError):
            return None

    def _now(
        self, study: str, there: StudyState, done: Mapping[Unit, UnitSeen]
    ) -> list[dict[str, Any]]:
        """Returns the units that are being simulated, and how far each is.

        A unit that has not said how far it is yet, or cannot, since its executor does not see this
        folder, is judged by the time that others took.
        """
        units_dir = there.folder / "units"
        usual_s = float(np.mean([seen.wall_s for seen in done.values()])) if done else None
        found = []
        for unit in there.units("running"):
            attempts = units_dir.glob(f"{TEMPORARY_PREFIX}{unit.unit_hash}-*")
            begun_s, folder = max(((_begun_s(one), one.name) for one in attempts), default=(0, ""))
            if begun_s:
                since_s = max(0.0, time.time() - begun_s)  # noqa: TID251 - files have wall time
                share = None if usual_s is None else min(0.99, since_s / max(usual_s, 0.001))
                told = {"words": there.plan.words(unit), "seconds": since_s, "share": share}
                found.append(told | self._simulated(study, folder))
        return found

    def _simulated(self, study: str, folder: str) -> dict[str, float]:
        """Returns how far a unit has said it is; nothing if it has not, or not in these words."""
        try:
            said = self._studies.read(study, f"units/{folder}/{PROGRESS_FILE}", 100)
            now_ns, until_ns = map(int, said.split())
        except (NoStudyError, ValueError):
            return {}
        if not 0 <= now_ns <= until_ns or not until_ns:
            return {}
        seconds = {"simulated_s": now_ns / NS_PER_S, "until_s": until_ns / NS_PER_S}
        return seconds | {"share": now_ns / until_ns}

    def _failures(self, study: str, there: StudyState) -> list[dict[str, str]]:
        found = []
        for unit in there.units("failed")[:_MOST_FAILURES]:
            try:
                file = self._studies.file(study, f"units/{unit.unit_hash}{FAILED_SUFFIX}")
                failure = read_failure(file.parent, unit.unit_hash)
            except NoStudyError:
                failure = None
            error = "its file cannot be read" if failure is None else str(failure.error)
            found.append({"words": there.plan.words(unit), "error": error[:500]})
        return found


def _begun_s(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0


def _left_s(
    counts: Mapping[str, int], done: Mapping[Unit, UnitSeen], holder: Holder | None
) -> float | None:
    """Returns the time left as far as the units that this run has finished can tell."""
    if holder is None:
        return None
    try:
        begun_s = timegm(time.strptime(holder.since, "%Y-%m-%d %H:%M:%S"))
    except ValueError:
        return None
    ended = [seen.ended_s for seen in done.values() if seen.ended_s >= begun_s]
    left = counts.get("running", 0) + counts.get("missing", 0)
    return (max(ended) - begun_s) / len(ended) * left if ended else None


def _why_no_figures(there: StudyState) -> str:
    """Returns why variants have only counts; empty if they have figures."""
    points, units = len(there.plan.points), len(there.by_unit)
    if points > 1:
        return (
            f"This study has {points:,} points, so a variant has no mean of its own: the figures "
            "of each point are in the report."
        )
    if units > MOST_READ:
        return f"Of more than {MOST_READ} units the figures are not read: they are in the report."
    return ""


def _by_variant(
    there: StudyState, done: Mapping[Unit, UnitSeen], fact: str
) -> list[dict[str, Any]]:
    """Returns counts, and for a study of one point its figures so far and how they narrowed."""
    found = []
    looks = chart_looks(there.variants)
    single = len(there.plan.points) == 1
    for variant in there.variants:
        counts = there.counts(variant)
        seen = [one for unit, one in done.items() if unit.variant == variant] if single else []
        of_fact = [one.latency for one in seen if one.latency and one.latency.fact == fact]
        latencies = [mean_ms for latency in of_fact for mean_ms in latency.means_ms]
        found.append(
            {
                "variant": variant,
                "look": looks[variant],
                "units": _counted(counts),
                "latency_ms": _words(latencies),
                "txn_per_s": _words([one.txn_per_s for one in seen]),
                "course": [  # how many values there are, their mean, the ends of its interval
                    [count, *mean_and_ends(np.array(latencies[:count], dtype=np.float64))]
                    for count in range(1, len(latencies) + 1)
                ],
            }
        )
    return found


def _counted(counts: Mapping[str, int]) -> dict[str, int]:
    """Returns units by state; a damaged one is missing, since the next run makes it again."""
    missing = counts.get("missing", 0) + counts.get(DAMAGED, 0)
    return {state: counts.get(state, 0) for state in STATES} | {"missing": missing}


def _words(values: Sequence[float]) -> str:
    return mean_words(values) if values else "–"
