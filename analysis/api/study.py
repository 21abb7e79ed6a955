"""A finished study as tables and figures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, Final

import pandas as pd

from analysis.api.arguments import folder_of
from analysis.api.plots import StudyPlots
from analysis.api.ratios import compared, of_figure, warn_of_capacity, warn_of_gaps
from analysis.metrics.catalogue import MetricKey
from analysis.metrics.row_table import POINT, RowTable
from analysis.page.escaping import one_line
from analysis.program import command
from analysis.report.tidy import (
    CAPACITY,
    COMPARISONS,
    SENSITIVITY,
    SUMMARY,
    UNITS,
    beside_points,
    read_table,
)
from analysis.study.study_folder import StudyFolderError, no_study
from analysis.study.study_outcome import said_in, sentences
from analysis.study.units import read_plan


class NotAskedError(StudyFolderError, AttributeError):
    """The study has no such table, since its scenario does not ask for it."""


class OpenedStudy:
    """A study that was run, as its folder has it; every table is read when it is asked for."""

    def __init__(self, folder: str | Path) -> None:
        """Takes the study's folder.

        Raises:
            StudyFolderError: if it is no folder of a study that was summed up.
            TypeError: if it is no name of a folder.
        """
        self.folder = folder = Path(folder_of(folder))
        if not (folder / "scenario.yaml").is_file():
            raise StudyFolderError(no_study(folder, "scenario.yaml"))
        self._edition = _edition(folder)
        try:
            text = (folder / "summary.json").read_text(encoding="utf-8")
            self.document: dict[str, Any] = json.loads(text)
            self.name, self._verdict = str(self.document["study"]), self.document["verdict"]
        except (OSError, ValueError, LookupError, TypeError) as error:
            again = command("report", folder)
            raise StudyFolderError(
                f"{folder}: has no summary.json that can be read; {again} makes it"
            ) from error
        self._said = said_in(folder)

    def __repr__(self) -> str:
        """Returns name, verdict and folder."""
        return f"<Study {self.name}: {self.verdict['outcome']}, in {self.folder}>"

    def _repr_html_(self) -> str:
        """Returns what a notebook shows of it: the question, the answer, where the rest is."""
        said = self._said
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
        return sentences(self._said)

    @cached_property
    def summary(self) -> pd.DataFrame:
        """A row a number: point, variant, metric, class, stat, unit, value, its interval."""
        return self._table(SUMMARY)

    @cached_property
    def units(self) -> pd.DataFrame:
        """A row a unit and number: what each replication came to."""
        return self._table(UNITS)

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

    @cached_property
    def expectations(self) -> pd.DataFrame:
        """A row a claim of the scenario and point: its bounds, what was found, whether it holds."""
        self._refuse_changed()
        return expectation_table(self.document["expectations"], read_plan(self.folder).points)

    def compare(self, figure: str | None = None, baseline: str | None = None) -> pd.DataFrame:
        """Returns the ratio of every variant to the baseline, paired by replication.

        Args:
            figure: only this one, such as ``lock_latency_ms.p99``.
            baseline: a variant; None: the study's own.

        Raises:
            ValueError: if there is no such metric or variant.

        Warns:
            UserWarning: where there is no ratio, with the reason.
        """
        found = self._table(COMPARISONS)
        own = str((self.summary["variant"] if found.empty else found["baseline"]).iloc[0])
        base = own if baseline is None else str(baseline)
        if base != own:
            found = compared(self.units, self.summary, base)
        if figure is None:
            if base != own:
                warn_of_capacity(self.summary, own)
            return found
        key = MetricKey.parse_reported(str(figure))
        chosen = of_figure(key, found)
        warn_of_gaps(key, self.summary, chosen, base, own)
        return chosen.reset_index(drop=True)

    @cached_property
    def plot(self) -> StudyPlots:
        """The pictures of the report as figures: ``study.plot.lock_latency()``."""
        return StudyPlots(self.folder, self.document, self._refuse_changed)

    @property
    def report(self) -> Path:
        """The page with everything."""
        return self.folder / "report.html"

    def _refuse_changed(self) -> None:
        """Refuses a folder that holds something else than when it was opened.

        Raises:
            StudyFolderError: if it does.
        """
        if _edition(self.folder) != self._edition:
            raise StudyFolderError(
                f"{self.folder}: was run again since this study was opened, and has other results "
                "now; open it again"
            )

    def _asked(self, name: str) -> pd.DataFrame:
        if name not in self.document:
            raise NotAskedError(f"{self.folder}: its scenario has no section {name}; add it")
        return self._table(name)

    def _table(self, name: str) -> pd.DataFrame:
        """Returns a table of the study that was opened, and of no later one."""
        self._refuse_changed()
        found = read_table(self.folder, name)
        self._refuse_changed()
        return found


def _edition(folder: Path) -> tuple[str, Any]:
    """Returns the scenario of a folder, and the digest of what its summary is made of.

    A run that changes one of them writes the scenario first and the manifest last, so that between
    two looks that find both the same, the tables are the same, too.
    """
    try:
        scenario = (folder / "scenario.yaml").read_text(encoding="utf-8")
    except (OSError, ValueError):
        scenario = ""
    try:
        manifest = (folder / "manifest.json").read_text(encoding="utf-8")
        return scenario, json.loads(manifest)["made_of"]
    except (OSError, ValueError, LookupError, TypeError):
        return scenario, None


def _shown(text: str) -> str:
    """Returns text as HTML that shows it, whatever a scenario says."""
    return escape(one_line(text))


_COLUMNS: Final = (
    "variant", "against", "metric", "class", "stat", "below", "above", "value", "holds", "refuted",
    "reason",
)  # fmt: skip
_KINDS: Final = {"below": float, "above": float, "value": float, "holds": bool, "refuted": bool}


def expectation_table(
    claims: Sequence[Mapping[str, Any]], points: Sequence[Mapping[str, Any]]
) -> pd.DataFrame:
    """Returns a row a claim and point, with the same columns whatever is claimed.

    Args:
        claims: as ``summary.json`` has them.
        points: of the study.
    """
    found = [dict(claim["point"]) for claim in claims]
    known = [*points, *(point for point in found if point not in points)]
    table = RowTable.from_rows(claims, known)
    rest = table.columns.reindex(columns=list(_COLUMNS)).astype(object).astype(_KINDS)
    return beside_points(known, table.columns[POINT], rest)
