"""What of a study's folder can be compared with another study's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import yaml

from analysis.metrics.catalogue import MetricKey
from analysis.metrics.numbers import NumberKey, StudyNumber
from analysis.program import command
from analysis.study.ledger import scan
from analysis.study.parquet_sink import read_here
from analysis.study.study_folder import StudyFolderError, no_study, runs_the_rest
from analysis.study.study_outcome import said_in
from analysis.study.unit_folder import UNIT_FILE

MANIFEST: Final = "manifest.json"
ROWS: Final = "summary.parquet"
SUMMED_UP: Final = ("scenario.yaml", MANIFEST, ROWS)
"""Files of a study that ``read_results`` reads, beside the record of its first unit."""


@dataclass(frozen=True, slots=True)
class StudyResults:
    """One study."""

    folder: Path
    manifest: Mapping[str, Any]
    scenario: Mapping[str, Any]
    """The resolved file."""
    numbers: Mapping[NumberKey, StudyNumber]
    model: str
    """Digest of the model that made the facts; empty if no unit is there to say it."""
    outcome: str = ""
    """A ``StudyOutcome``; empty if it is not known."""
    variants: tuple[str, ...] = field(default=())
    points: tuple[str, ...] = field(default=())


def read_results(folder: Path) -> StudyResults:
    """Reads a study's folder, without its facts.

    Raises:
        StudyFolderError: if it is no folder of a study that was summed up.
    """
    if not (folder / "scenario.yaml").is_file():
        raise StudyFolderError(no_study(folder, "scenario.yaml"))
    for name in (MANIFEST, ROWS):
        if not (folder / name).is_file() and not scan(folder / "units").done:
            message = f"{folder}: no unit is finished; {runs_the_rest(folder)} runs them"
            raise StudyFolderError(message)
        if not (folder / name).is_file():
            raise StudyFolderError(f"{folder}: has no {name}; {command('report', folder)} makes it")
    try:
        text = (folder / MANIFEST).read_text(encoding="utf-8")
        manifest = _mapping(MANIFEST, json.loads(text))
        text = (folder / "scenario.yaml").read_text(encoding="utf-8")
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        scenario = _mapping("scenario.yaml", yaml.load(text, Loader=loader) or {})
        numbers = _numbers(read_here(folder / ROWS))
    except (OSError, ValueError, KeyError, yaml.YAMLError, pa.ArrowException) as error:
        first = " ".join(str(error).split()).partition(". ")[0][:80]
        raise StudyFolderError(
            f"{folder}: its results cannot be read ({first}); "
            f"{command('report', folder)} makes them again"
        ) from error
    return StudyResults(
        folder=folder,
        manifest=manifest,
        scenario=scenario,
        numbers=numbers,
        model=_model(folder, manifest),
        outcome=str(said_in(folder).get("outcome", "")),
        variants=tuple(dict.fromkeys(key.variant for key in numbers)),
        points=tuple(dict.fromkeys(key.point for key in numbers)),
    )


def _mapping(name: str, content: object) -> Mapping[str, Any]:
    if isinstance(content, dict):
        return content
    raise ValueError(f"{name} is not a mapping")


def _numbers(table: pa.Table) -> dict[NumberKey, StudyNumber]:
    def column(name: str, none: object) -> list[Any]:
        if name not in table.column_names:
            return [none] * table.num_rows
        return [none if cell is None else cell for cell in table[name].to_pylist()]

    nan = float("nan")  # one object, so that numbers without an interval can be equal
    numbers = (
        column("metric", ""),
        *(column(name, nan) for name in ("value", "ci_low", "ci_high")),
        column("replications", 0),
        column("refused", ""),
        column("at_least", none=False),
        column("unit", ""),
    )
    figures = zip(*(column(name, "") for name in ("metric", "class", "stat")), strict=True)
    places = zip(column("point", ""), column("variant", ""), figures, strict=True)
    return {
        NumberKey(point, variant, MetricKey(*figure)): StudyNumber(*number)
        for (point, variant, figure), number in zip(places, zip(*numbers, strict=True), strict=True)
    }


def _model(folder: Path, manifest: Mapping[str, Any]) -> str:
    """Returns the digest of the source that made the first unit."""
    for unit_hash in manifest.get("digests", {}):
        try:
            unit = json.loads((folder / "units" / unit_hash / UNIT_FILE).read_text("utf-8"))
            return str(unit["model"])
        except (OSError, ValueError, KeyError):
            return ""
    return ""
