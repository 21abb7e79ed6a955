"""What a page is written from: the study, its numbers, and how to look them up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import pandas as pd
import yaml

from analysis.metrics.study_tables import StudyTables
from analysis.plots.drawn import Drawn
from analysis.study.finished_study import FinishedStudy
from analysis.study.study import point_key
from analysis.study.units import point_words

Row = Mapping[str, Any]
Key = tuple[str, str, str]
"""Metric, class and statistic."""

MOST_WHOLE_POINTS: Final = 4
"""Points up to which each has tables of its own."""


@dataclass(frozen=True)
class Findings:
    """A finished study with its summary.

    Attributes:
        run: what was asked and done.
        summary: content of ``summary.json``.
        tables: by bin of simulated time and by unit.
        drawn: pictures under ``plots/``.
    """

    run: FinishedStudy
    summary: Mapping[str, Any]
    tables: StudyTables
    drawn: Sequence[Drawn]

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The resolved scenario as a file says it."""
        loaded: Mapping[str, Any] = yaml.safe_load(self.run.study.resolved_yaml())
        return loaded

    @cached_property
    def base(self) -> Mapping[str, Any]:
        """The baseline at the first point, with every key, as a file would say it."""
        study = self.run.study
        return study.document(study.points[0], self.baseline)

    @property
    def question(self) -> str:
        """What the scenario asks; empty if it does not say."""
        return str(self.document.get("about") or "")

    @property
    def variants(self) -> list[str]:
        """The baseline first."""
        return list(self.run.study.variants)

    @property
    def baseline(self) -> str:
        """The variant that the others are compared with."""
        return self.variants[0]

    @property
    def points(self) -> Sequence[Mapping[str, Any]]:
        """Settings of the swept keys, by index."""
        return self.run.plan.points

    @property
    def searched(self) -> bool:
        """Whether points were chosen by a search, so that none has a meaning of its own."""
        return "capacity" in self.summary or "sensitivity" in self.summary

    @cached_property
    def whole_points(self) -> range:
        """Points that are told one by one; none if they are too many."""
        few = len(self.points) <= MOST_WHOLE_POINTS and not self.searched
        return range(len(self.points) if few else 0)

    @cached_property
    def main(self) -> str:
        """The variant that the question is about: the one most is expected of, or the last."""
        said = [
            claim["variant"]
            for claim in self.summary["expectations"]
            if claim["variant"] in self.variants[1:]
        ]
        return max(reversed(self.variants), key=said.count) if said else self.variants[-1]

    @cached_property
    def _values(self) -> Mapping[tuple[int, str], Mapping[Key, Row]]:
        return self._by_case(self.summary["rows"])

    @cached_property
    def _ratios(self) -> Mapping[tuple[int, str], Mapping[Key, Row]]:
        return self._by_case(self.summary["comparisons"])

    def _by_case(self, rows: Iterable[Row]) -> dict[tuple[int, str], dict[Key, Row]]:
        """Keeps the rows of points that are shown one by one."""
        found: dict[tuple[int, str], dict[Key, Row]] = {}
        for row in rows:
            place = self._places.get(point_key(row["point"]))
            if place is not None:
                case = found.setdefault((place, row["variant"]), {})
                case[row["metric"], row["class"], row["stat"]] = row
        return found

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {point_key(self.points[index]): index for index in self.whole_points}

    def value(self, point: int, variant: str, key: Key) -> Row | None:
        """Returns the row of a number at a point that is shown by itself, or None."""
        return self._values.get((point, variant), {}).get(key)

    def ratio(self, point: int, variant: str, key: Key) -> Row | None:
        """Returns the comparison of a variant with the baseline, or None."""
        return self._ratios.get((point, variant), {}).get(key)

    def classes(self, point: int, metric: str, stat: str = "mean") -> list[str]:
        """Returns the classes of a metric that any variant has, without ``all``."""
        found: dict[str, None] = {}
        for variant in self.variants:
            for of, class_, its_stat in self._values.get((point, variant), {}):
                if of == metric and its_stat == stat and class_ != "all":
                    found[class_] = None
        return sorted(found)

    def amount(self, point: int, variant: str, key: Key) -> float:
        """Returns a number, 0 where there is none."""
        row = self.value(point, variant, key)
        return float((row or {}).get("value") or 0.0)

    def point_name(self, point: int) -> str:
        """Returns ``workload.threads = 50``; empty for the only point."""
        return point_words(self.points[point])

    def of_section(self, *sections: str) -> list[Drawn]:
        """Returns the pictures of some sections, in the order in which they were drawn."""
        return [drawn for drawn in self.drawn if drawn.section in sections]

    def columns(self) -> pd.DataFrame:
        """Returns all rows of the summary as columns, with ``point_index``."""
        table: pd.DataFrame = self.summary["rows"].columns
        return table
