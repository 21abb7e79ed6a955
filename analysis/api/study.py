"""A finished study as tables and figures."""

from __future__ import annotations

import json
import warnings
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.api.compared import compared
from analysis.api.plots import StudyPlots
from analysis.metrics.catalogue import MetricKey
from analysis.program import command
from analysis.report.tidy import CAPACITY, COMPARISONS, SENSITIVITY, SUMMARY, UNITS, read_table
from analysis.study.study_folder import StudyFolderError, no_study


class OpenedStudy:
    """A study that was run, as its folder has it; every table is read when it is asked for."""

    def __init__(self, folder: Path) -> None:
        """Takes the study's folder.

        Raises:
            StudyFolderError: if it is no folder of a study that was summed up.
        """
        self.folder = folder
        if not (folder / "scenario.yaml").is_file():
            raise StudyFolderError(no_study(folder, "scenario.yaml"))
        try:
            text = (folder / "summary.json").read_text(encoding="utf-8")
            self.document: dict[str, Any] = json.loads(text)
            self.name, self._verdict = str(self.document["study"]), self.document["verdict"]
        except (OSError, ValueError, LookupError, TypeError) as error:
            again = command("report", folder)
            raise StudyFolderError(
                f"{folder}: has no summary.json that can be read; {again} makes it"
            ) from error

    def __repr__(self) -> str:
        """Returns name, verdict and folder."""
        return f"<Study {self.name}: {self.verdict['outcome']}, in {self.folder}>"

    @property
    def verdict(self) -> dict[str, Any]:
        """``outcome`` (passed, degraded, failed or outage), ``fine``, ``says`` and ``stopped``."""
        return dict(self._verdict)

    @cached_property
    def summary(self) -> pd.DataFrame:
        """A row a number: point, variant, metric, class, stat, unit, value, its interval."""
        return read_table(self.folder, SUMMARY)

    @cached_property
    def units(self) -> pd.DataFrame:
        """A row a unit and number: what each replication came to."""
        return read_table(self.folder, UNITS)

    @cached_property
    def capacity(self) -> pd.DataFrame:
        """A row a case: the load that it carries, what limits it, what it costs.

        Raises:
            StudyFolderError: if the study did not look for a capacity.
        """
        return self._asked(CAPACITY)

    @cached_property
    def sensitivity(self) -> pd.DataFrame:
        """A row a factor and outcome: how much the one changes the other.

        Raises:
            StudyFolderError: if the study did not ask for it.
        """
        return self._asked(SENSITIVITY)

    @property
    def expectations(self) -> pd.DataFrame:
        """A row a claim of the scenario, and whether it holds."""
        return pd.DataFrame(self.document["expectations"])

    def compare(self, figure: str | None = None, baseline: str | None = None) -> pd.DataFrame:
        """Returns the ratio of every variant to the baseline, paired by replication.

        Args:
            figure: only this one, such as ``lock_latency_ms.p99``.
            baseline: a variant; None: the study's own.

        Raises:
            ValueError: if there is no such metric or variant.
        """
        found = read_table(self.folder, COMPARISONS)
        if baseline is not None and (found.empty or set(found["baseline"]) != {baseline}):
            found = compared(self.units, self.summary, baseline)
        if figure is None:
            return found
        key = MetricKey.parse(str(figure))
        chosen = _of(key, found)
        if chosen.empty:
            warnings.warn(f"{key} cannot be compared{self._why_not(key)}", stacklevel=2)
        return chosen.reset_index(drop=True)

    def _why_not(self, key: MetricKey) -> str:
        """Returns why there is no ratio of a number, as far as it is known."""
        rows = _of(key, self.summary)
        for row in rows[rows["at_least"]].itertuples():
            return f": of {row.variant} only a lower bound is known, since work had not ended"
        for row in rows[rows["refused"].notna()].itertuples():
            return f": that of {row.variant} is refused, {row.refused}"
        return "" if len(rows) else ": the study has none"

    @property
    def plot(self) -> StudyPlots:
        """The pictures of the report as figures: ``study.plot.lock_latency()``."""
        return StudyPlots(self.folder, self.document)

    @property
    def report(self) -> Path:
        """The page with everything."""
        return self.folder / "report.html"

    def _asked(self, name: str) -> pd.DataFrame:
        if name not in self.document:
            raise StudyFolderError(f"{self.folder}: its scenario has no section {name}; add it")
        return read_table(self.folder, name)


def _of(key: MetricKey, table: pd.DataFrame) -> pd.DataFrame:
    is_it = (table["metric"] == key.metric) & (table["class"] == key.class_)
    return table[is_it & (table["stat"] == key.stat)]
