"""The pictures of a study's report, as figures to look at and to change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from analysis.metrics.row_table import RowTable
from analysis.pipeline.study_tables import FIGURE_POINTS, read_study_tables
from analysis.plots.drawn import Picture
from analysis.plots.study_plots import study_pictures
from analysis.running.results import points_drawn
from analysis.study.finished_study import finished_study, load_folder


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
        most = points_drawn(run, FIGURE_POINTS)
        tables = read_study_tables(None, self._folder, run.done, most, run.study.run.batches)
        rows = {
            name: RowTable.from_rows(self._document[name], run.plan.points)
            for name in ("rows", "comparisons")
            if self._document[name]
        }
        return study_pictures(run, {**self._document, **rows}, tables)
