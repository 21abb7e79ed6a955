"""A finished study as tables and figures."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from analysis.metrics.catalogue import MetricKey
from analysis.metrics.row_table import POINT, RowTable
from analysis.metrics.unit_metrics import KEY
from analysis.page.escaping import one_line
from analysis.pipeline.study_tables import read_study_tables
from analysis.plots.drawn import Picture
from analysis.plots.study_plots import study_pictures
from analysis.program import command
from analysis.report.summary import GROUP, comparison_rows
from analysis.report.tidy import (
    CAPACITY,
    COMPARISONS,
    SENSITIVITY,
    SUMMARY,
    UNITS,
    read_table,
    rows_table,
)
from analysis.running.results import points_drawn
from analysis.study.answer_file import said_in, sentences
from analysis.study.finished_study import finished_study, load_folder
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

    def _repr_html_(self) -> str:
        """Returns what a notebook shows of it: the question, the answer, where the rest is."""
        said = said_in(self.folder)
        parts = [f"<b>{_shown(str(said.get('question') or self.name))}</b>"]
        parts += [f"<p>{_shown(sentence)}</p>" for sentence in sentences(said)]
        return "".join([*parts, f"<code>{_shown(repr(self))}</code>"])

    @property
    def verdict(self) -> dict[str, Any]:
        """``outcome`` (``passed`` ... ``outage``), ``fine``, ``says`` and ``stopped``."""
        return dict(self._verdict)

    @property
    def answer(self) -> list[str]:
        """The answer to the scenario's question in sentences, as the report begins."""
        return sentences(said_in(self.folder))

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
        key = MetricKey.parse_reported(str(figure))
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


def _shown(text: str) -> str:
    """Returns text as HTML that shows it, whatever a scenario says."""
    return escape(one_line(text))


def _of(key: MetricKey, table: pd.DataFrame) -> pd.DataFrame:
    is_it = (table["metric"] == key.metric) & (table["class"] == key.class_)
    return table[is_it & (table["stat"] == key.stat)]


def compared(units: pd.DataFrame, summary: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """Returns the ratio of every other variant to a baseline, as ``comparisons`` has them.

    Args:
        units: of the study.
        summary: of the study; what is only known to be greater is not compared.
        baseline: a variant.

    Raises:
        ValueError: if the study has no such variant.
    """
    variants = list(dict.fromkeys(units["variant"]))
    if baseline not in variants:
        raise ValueError(f"no variant is called {baseline!r}; use one of {', '.join(variants)}")
    texts = list(dict.fromkeys(units["point"]))
    place = {text: at for at, text in enumerate(texts)}
    values = units.assign(**{POINT: units["point"].map(place)})
    wide = values.pivot(index=GROUP, columns="replication", values="value")
    bounds = summary[summary["at_least"]].assign(**{POINT: summary["point"].map(place)})
    found = comparison_rows(
        wide.astype(np.float64),
        [json.loads(text) for text in texts],
        baseline,
        bounds=pd.MultiIndex.from_frame(bounds[[POINT, "variant", *KEY]]),
    )
    return rows_table(found)


class StudyPlots:
    """Every picture that a study's report has, by its name; each call draws a figure of its own."""

    def __init__(self, folder: Path, document: Mapping[str, Any]) -> None:
        """Takes a study's folder and the content of its ``summary.json``."""
        self._folder = folder
        self._document = document

    def names(self) -> list[str]:
        """Returns the names of all pictures."""
        return list(dict.fromkeys(picture.name for _, picture, _ in self._pictures()))

    def __dir__(self) -> list[str]:
        return ["names", *self.names()]

    def __getattr__(self, name: str) -> Callable[..., Figure]:
        if name.startswith("_"):
            raise AttributeError(name)

        def draw(point: int = 0) -> Figure:
            """Returns the picture; ``point`` is the place of its point among the study's."""
            there = []
            for _, picture, of_point in self._pictures():
                if picture.name == name and of_point in (None, point):
                    return picture.figure
                there.append(picture.name)
            if name in there:
                raise AttributeError(f"{name} has no point {point}")
            names = ", ".join(dict.fromkeys(there))
            raise AttributeError(f"this study has no picture {name}; it has {names}")

        return draw

    def _pictures(self) -> Iterator[tuple[str, Picture, int | None]]:
        """Yields the report's pictures, each with the place of its point; facts are read here."""
        run = finished_study(self._folder, load_folder(self._folder))
        drawn, batches = points_drawn(run), run.study.run.batches
        tables = read_study_tables(None, self._folder, run.done, drawn, batches)
        rows = {
            name: RowTable.from_rows(self._document[name], run.plan.points)
            for name in ("rows", "comparisons")
            if self._document[name]
        }
        return study_pictures(run, {**self._document, **rows}, tables)
