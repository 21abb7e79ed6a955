"""What a page is written from: the study, its numbers, and how to look them up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import pandas as pd
import yaml

from analysis.metrics.catalogue import MetricKey
from analysis.metrics.numbers import Numbers, StudyNumber
from analysis.metrics.row_table import POINT
from analysis.metrics.study_tables import StudyTables
from analysis.plots.drawn import Drawn
from analysis.report.comparison import MOST_WHOLE_POINTS, main_variant
from analysis.statistics.amounts import count
from analysis.study.finished_study import FinishedStudy
from analysis.study.units import point_words

MOST_COMPARED: Final = 3
"""Variants beside the baseline up to which an answer tells of each."""


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
        return main_variant(self.variants, self.summary["expectations"])

    @cached_property
    def compared(self) -> list[str]:
        """The variants of which an answer says how they differ from the baseline, main one first.

        Of more than an answer can tell of, the main one alone.
        """
        others = [name for name in self.variants if name not in (self.baseline, self.main)]
        every = [self.main, *others] if self.main != self.baseline else others
        return every if len(every) <= MOST_COMPARED else every[:1]

    @cached_property
    def told(self) -> list[str]:
        """The variants that an answer tells of; the baseline last."""
        return [*self.compared, self.baseline]

    @cached_property
    def _numbers(self) -> tuple[Numbers, Numbers]:
        """Values and ratios of points that are shown by themselves."""
        points = [self.points[at] for at in self.whole_points]
        values, ratios = (Numbers(self.summary[n], points=points) for n in ("rows", "comparisons"))
        return values, ratios

    def value(self, point: int, variant: str, key: MetricKey) -> StudyNumber:
        """Returns a number at a point that is shown by itself."""
        return self._numbers[0].get(self.points[point], variant, key)

    def ratio(self, point: int, variant: str, key: MetricKey) -> StudyNumber:
        """Returns the comparison of a variant with the baseline."""
        return self._numbers[1].get(self.points[point], variant, key)

    def classes(self, point: int, metric: str) -> list[str]:
        """Returns the classes of a metric that any variant has, without ``all``."""
        return self._numbers[0].classes(self.points[point], metric)

    def amount(self, point: int, variant: str, key: MetricKey) -> float:
        """Returns a number, 0 where there is none."""
        number = self.value(point, variant, key)
        return number.value if number.is_there else 0.0

    def greatest(self, point: int, variant: str, fact: str) -> float:
        """Returns the greatest value of a fact in any replication; 0 where there is none."""
        sums, batches = self.tables.sums, self.tables.batches
        key = (fact, "all", "max")
        if key not in sums.columns:
            return 0.0
        of_it = (batches[POINT] == point) & (batches["variant"] == variant)
        values = sums[[key]].to_numpy(dtype=np.float64)[of_it.to_numpy(), 0]
        return float(np.nanmax(values, initial=0.0))

    def point_name(self, point: int) -> str:
        """Returns ``workload.threads = 50``; empty for the only point."""
        return point_words(self.points[point])

    def at(self, caption: str, point: int | None) -> str:
        """Returns a caption with its point, ``..., at workload.threads = 50``."""
        where = "" if point is None else self.point_name(point)
        return f"{caption}, at {where}" if where else caption

    def of_section(self, *sections: str) -> list[Drawn]:
        """Returns the pictures of some sections, in the order in which they were drawn."""
        return [drawn for drawn in self.drawn if drawn.section in sections]

    @property
    def replications(self) -> str:
        """How many a case has: ``5 replications``, ``3 to 5 replications``."""
        numbers = [sum(case["verdicts"].values()) for case in self.summary["units"]]
        least, most = min(numbers), max(numbers)
        return count(most, "replication") if least == most else f"{least} to {most} replications"

    def columns(self) -> pd.DataFrame:
        """Returns all rows of the summary as columns, with ``point_index``."""
        table: pd.DataFrame = self.summary["rows"].columns
        return table
