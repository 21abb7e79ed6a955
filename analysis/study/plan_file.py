"""``plan.json``: all units of a study by number and name, for code that does not load the scenario.

It is replaced whole before each round of units, so it lists what was asked for so far.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from analysis.study.study_folder import StudyFolderError, no_study, write_text_whole
from analysis.study.units import AskedUnits, Unit

PLAN_FILE: Final = "plan.json"


def write_plan(folder: Path, plan: AskedUnits) -> None:
    """Replaces the plan of a study's folder.

    Raises:
        OSError: if it cannot be written.
    """
    units = [
        [unit.unit_hash, unit.point_index, unit.variant, unit.replication] for unit in plan.units
    ]
    content = {"points": [dict(point) for point in plan.points], "units": units}
    write_text_whole(folder / PLAN_FILE, json.dumps(content, separators=(",", ":")) + "\n")


def read_plan(folder: Path) -> AskedUnits:
    """Returns the plan of a study's folder.

    Raises:
        StudyFolderError: if there is none, or it is not whole.
    """
    try:
        content = json.loads((folder / PLAN_FILE).read_text(encoding="utf-8"))
        points = [dict(point) for point in content["points"]]
        units = [_unit(row, len(points)) for row in content["units"]]
    except OSError as error:
        raise StudyFolderError(
            no_study(folder, f"{PLAN_FILE} that can be read: {error.strerror}")
        ) from error
    except (ValueError, TypeError, KeyError) as error:
        raise StudyFolderError(
            f"{folder / PLAN_FILE}: is not a plan ({error}); the run's command writes a new "
            "one and "
            "keeps what is done"
        ) from error
    return AskedUnits(points, units)


def _unit(row: Any, points: int) -> Unit:
    unit_hash, point_index, variant, replication = row
    kinds = (type(unit_hash), type(point_index), type(variant), type(replication))
    if kinds != (str, int, str, int) or not 0 <= point_index < points:
        raise ValueError(f"{row} is not a unit of {points} points")
    return Unit(unit_hash, point_index, variant, replication)
