"""The pictures of a study's report as figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from analysis.metrics.row_table import RowTable
from analysis.pipeline.study_tables import read_study_tables
from analysis.plots.drawn import Picture
from analysis.plots.study_plots import study_pictures
from analysis.running.results import points_drawn
from analysis.study.finished_study import finished_study, load_folder

OfPoint = tuple[Picture, int | None]
"""A picture with the place of its point; None: it is of the whole study."""


class StudyPlots:
    """Every picture that a study's report has, by its name; each call draws a figure of its own."""

    def __init__(
        self, folder: Path, document: Mapping[str, Any], refuse_changed: Callable[[], None]
    ) -> None:
        """Takes a study's folder, the content of its ``summary.json``, and who minds the folder.

        ``refuse_changed`` raises if the folder has another content than ``document``.
        """
        self._folder = folder
        self._document = document
        self._refuse_changed = refuse_changed
        self._known: set[str] = set()
        self._drawn: dict[str, OfPoint] = {}
        """Pictures that were drawn to see whether there are such, until somebody wants them."""

    def names(self) -> list[str]:
        """Returns the names of all pictures."""
        found = list(dict.fromkeys(picture.name for picture, _ in self._pictures()))
        self._known.update(found)
        return found

    def __dir__(self) -> list[str]:
        return ["names", *self.names()]

    def __getattr__(self, name: str) -> Callable[..., Figure]:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._known:
            self._look_for(name)

        def draw(point: int = 0) -> Figure:
            """Returns the picture; ``point`` is the place of its point among the study's."""
            picture, of_point = self._drawn.pop(name, (None, None))
            if picture is not None and of_point in (None, point):
                return picture.figure
            for picture, of_point in self._pictures():
                if picture.name == name and of_point in (None, point):
                    return picture.figure
            raise AttributeError(f"{name} has no point {point}")

        return draw

    def _look_for(self, name: str) -> None:
        """Draws pictures until there is one of a name.

        Raises:
            AttributeError: if there is none.
        """
        there = []
        for picture, of_point in self._pictures():
            if picture.name == name:
                self._drawn[name] = picture, of_point
                self._known.add(name)
                return
            there.append(picture.name)
        names = ", ".join(dict.fromkeys(there))
        raise AttributeError(f"this study has no picture {name}; it has {names}")

    def _pictures(self) -> Iterator[OfPoint]:
        """Yields the report's pictures; facts are read here."""
        self._refuse_changed()
        run = finished_study(self._folder, load_folder(self._folder))
        drawn, batches = points_drawn(run), run.study.run.batches
        tables = read_study_tables(None, self._folder, run.done, drawn, batches)
        rows = {
            name: RowTable.from_rows(self._document[name], run.plan.points)
            for name in ("rows", "comparisons")
            if self._document[name]
        }
        for _, picture, of_point in study_pictures(run, {**self._document, **rows}, tables):
            yield picture, of_point
