"""The explorer: a scenario with some keys turned, estimated at once, beside what was simulated.

The estimate is that of ``explain``. A simulated point is one whose units have the very hash of the
case that is shown: rows of the study that the explorer started from, and units simulated here. What
was simulated for another question is never shown as this one's.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from math import isnan
from pathlib import Path
from typing import Any, Final

from analysis.comparison.results import read_results
from analysis.metrics.catalogue import STATIONS_OF, MetricKey
from analysis.metrics.numbers import NOTHING, NumberKey, StudyNumber
from analysis.report.explained import expected
from analysis.serve.controls import LOCK_MODES, Base, ControlError, NoBaseError, Values
from analysis.serve.studies import NoStudyError, Studies
from analysis.serve.units_here import FIGURES, Simulated, UnitsHere, figure
from analysis.study.load import load_study
from analysis.study.study_folder import StudyFolderError
from sim.estimate import Estimate, Estimates, has_estimate
from sim.fact_names import LOG_WRITER
from sim.scenario.problems import ScenarioError
from sim.units import MIB

SCENARIO: Final = "scenario:"
STUDY: Final = "study:"
_LONGEST_FILE_BYTES: Final = MIB
_MOST_KEPT: Final = 2_000
_MODE: Final = frozenset(LOCK_MODES["sync"])


class Explorer:
    """Estimates and simulated points of any base, with controls turned."""

    def __init__(self, studies: Studies, scenarios: Path, here: UnitsHere) -> None:
        """Takes the studies, the folder of shipped scenarios, and the units simulated here."""
        self._studies = studies
        self._scenarios = scenarios
        self._here = here
        self._turn = threading.Lock()
        self._bases: dict[tuple[str, int], Base] = {}
        self._estimates = Estimates()
        self._shown: OrderedDict[str, Mapping[str, Any]] = OrderedDict()

    def scenarios(self) -> list[str]:
        """Returns the names of the shipped scenarios."""
        return sorted(file.stem for file in self._scenarios.glob("*.yaml"))

    def base(self, name: str) -> Base:
        """Returns what a name stands for.

        Raises:
            NoBaseError: if there is none, its file has problems, or it has no estimate.
        """
        file = self._file(name)
        stamp = (name, file.stat().st_mtime_ns)
        with self._turn:
            if stamp not in self._bases:
                self._bases = dict([*self._bases.items()][-8:])
                self._bases[stamp] = self._loaded(name, file)
            return self._bases[stamp]

    def _file(self, name: str) -> Path:
        shipped = name.removeprefix(SCENARIO)
        if name.startswith(SCENARIO) and shipped in self.scenarios():
            return self._scenarios / f"{shipped}.yaml"
        if name.startswith(STUDY):
            study = name.removeprefix(STUDY)
            try:
                self._studies.read(study, "scenario.yaml", _LONGEST_FILE_BYTES)
                return self._studies.folder(study) / "scenario.yaml"
            except NoStudyError as error:
                raise NoBaseError(str(error)) from error
        raise NoBaseError(f"there is no scenario {name}")

    def _loaded(self, name: str, file: Path) -> Base:
        try:
            study = load_study(file)
        except ScenarioError as error:
            raise NoBaseError("; ".join(map(str, error.problems[:3]))) from error
        base = Base(name, file, study, self._numbers(name))
        if not has_estimate(base.scenario):
            kind = base.scenario.workload.kind
            raise NoBaseError(f"workload.kind: {kind} has no transactions to estimate")
        return base

    def _numbers(self, name: str) -> Mapping[NumberKey, StudyNumber]:
        if not name.startswith(STUDY):
            return {}
        study = name.removeprefix(STUDY)
        try:
            for file in ("manifest.json", "summary.parquet"):
                self._studies.file(study, file)
            return read_results(self._studies.folder(study)).numbers
        except (NoStudyError, StudyFolderError):
            return {}

    def answer(self, base: Base, values: Values) -> dict[str, Any]:
        """Returns what is known of a base with some controls turned.

        Args:
            base: where the rest is from.
            values: what was turned.

        Returns:
            ``modes``: by lock mode the estimate, and what was simulated of that very case; or
            ``problem`` where no cluster can be built so.
        """
        try:
            points = {mode: base.point(values, mode) for mode in LOCK_MODES}
            modes = {mode: self._case(base, point) for mode, point in points.items()}
        except ScenarioError as error:
            says = [f"{each.path}: {each.message}" for each in error.problems[:2]]
            return {"problem": "; ".join(dict.fromkeys(says))}
        return {"modes": modes}

    def _case(self, base: Base, point: Mapping[str, Any]) -> dict[str, Any]:
        digest = base.study.resolver.digest(point, base.variant)
        with self._turn:
            kept = self._shown.get(digest)
            if kept is None:
                kept = _document(self._estimates.of(base.study.scenario(point, base.variant)))
                self._shown[digest] = kept
                if len(self._shown) > _MOST_KEPT:
                    self._shown.popitem(last=False)
        simulated = [*_of_study(base.simulated.get(digest, {}))]
        simulated += self._here.found(base.study, point, base.variant)
        seen = []
        for each in simulated:  # the busiest by the estimate's rule; None: it is not known
            busy = (share for name, share in each["busy"].items() if name != LOG_WRITER)
            seen.append(dict(each) | {"busiest": max(busy, default=None)})
        return dict(kept) | {"simulated": seen}

    def simulate(self, base: Base, values: Values, mode: str) -> None:
        """Begins to simulate a unit of a base with some controls turned, in a lock mode.

        Raises:
            ControlError: if there is no such mode, or no cluster can be built so.
            BusyError: if a unit is being simulated.
        """
        if mode not in LOCK_MODES:
            raise ControlError(f"there is no lock mode {mode}; use one of {', '.join(LOCK_MODES)}")
        try:
            point = base.point(values, mode)
            self._here.start(base.file, base.study, point, base.variant)
        except ScenarioError as error:
            raise ControlError("; ".join(map(str, error.problems[:2]))) from error

    def text(self, base: Base, values: Values) -> str:
        """Returns a scenario file of a base with some controls turned, a variant a lock mode."""
        point = {key: said for key, said in base.point(values, "sync").items() if key not in _MODE}
        return base.study.case_yaml(point, base.variant, LOCK_MODES)


def _document(made: Estimate) -> dict[str, Any]:
    """Returns what a page shows of an estimate."""
    numbers = dict(expected(made))
    return {
        "figures": {
            name: None if (value := numbers[MetricKey(metric)]) is None else value * scale
            for name, (metric, scale) in FIGURES.items()
        },
        "stations": [
            {"name": each.name, "busy": each.utilisation, "servers": each.servers}
            for each in made.stations
        ],
        "bottleneck": made.bottleneck,
        "busiest": made.busiest.used,
        "saturated": made.is_saturated,
        "in_balance": made.in_balance,
        "path": made.lock_path if made.locks_per_txn else "none",
        "warnings": [f"{each.place}: {each.text}" for each in made.warnings],
        "left_out": made.left_out,
        "seconds": made.cost.seconds,
    }


def _of_study(numbers: Mapping[NumberKey, StudyNumber]) -> Iterator[Simulated]:
    """Yields what the study that the explorer started from has found of a case; or nothing."""
    if not numbers:
        return
    by_figure = {key.figure: number for key, number in numbers.items()}
    figures, replications = {}, 0
    for name, (metric, scale) in FIGURES.items():
        number = by_figure.get(MetricKey(metric), NOTHING)
        if number.refused or not number.is_there:
            continue
        low, high = (None if isnan(end) else end * scale for end in (number.ci_low, number.ci_high))
        figures[name] = figure(number.value * scale, low, high)
        replications = number.replications
    busy = {
        key.class_: number.value
        for key, number in by_figure.items()
        if key.metric in STATIONS_OF and key.stat == "mean" and number.is_there
    }
    yield {"from": "study", "values": replications, "figures": figures, "busy": busy, "verdict": ""}
