"""``explain``: what to expect of a scenario before it runs; ``--verify``: how far off that was.

No Spark, no tables of facts: a study that is done is read from its ``summary.json``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from analysis.cli.failures import CommandError, ExitStatus
from analysis.cli.scenario_app import ExplainCommand
from analysis.lint.scenario_lint import static_warnings
from analysis.program import command, cores
from analysis.report.estimate_table import (
    Compared,
    print_cost,
    print_estimates,
    print_left_out,
    print_verified,
)
from analysis.report.explained import Explained, explained
from analysis.study.documents import differences, document_of
from analysis.study.finished_study import load_folder
from analysis.study.load import load_study
from analysis.study.study import Study
from analysis.study.study_folder import study_folder
from analysis.terminal.console import output, print_json, say
from sim.estimate import Estimate
from sim.scenario.problems import shown

MOST_POINTS: Final = 3
"""Points that are explained; ``--set`` asks for another one."""


def explain_command(request: ExplainCommand) -> int:
    """Prints what to expect of a scenario; returns the exit status."""
    study = load_study(request.file, request.set_ or ())
    summary = _summary(request, study) if request.verify else None
    found = explained(study, MOST_POINTS)
    warnings = [str(warning) for warning in static_warnings(study)]
    if request.as_json:
        print_json(_document(study, found, warnings, summary))
        return ExitStatus.FINE
    if summary is None:
        _say_estimates(request, study, found, warnings)
    else:
        _say_verified(found, summary)
    _say_left_out(study, found)
    return ExitStatus.FINE


def _say_estimates(
    request: ExplainCommand,
    study: Study,
    explained: Sequence[Explained],
    warnings: Sequence[str],
) -> None:
    console = output()
    if study.about:
        say(console, " ".join(study.about.split()))
    for each in explained:
        print_estimates(console, each.title, each.variants)
    for warning in warnings:
        say(console, f"  warning: {warning}", "yellow")
    cases = [estimate for each in explained for estimate in each.variants.values()]
    print_cost(console, cases, _units(study), cores())
    to_run = command("run", request.file, *_set(request.set_ or ()))
    say(console, f"  computed, not simulated (docs/EXPLAIN.md); to run it: {to_run}")


def _units(study: Study) -> int:
    """Returns how many units the study has, or its first round."""
    if study.capacity is None and study.sensitivity is None:
        return len(study.points) * len(study.variants) * study.replications
    from analysis.experiments.choose import first_round  # brings scipy

    return first_round(study)[0]


def _set(overrides: Sequence[str]) -> list[str]:
    return [word for override in overrides for word in ("--set", override)]


def _say_left_out(study: Study, explained: Sequence[Explained]) -> None:
    left = len(study.points) - len(explained)
    if left:
        keys = " ".join(f"--set {key}=..." for key in study.points[0])
        points = f"{left:,} more point{'s are' if left > 1 else ' is'}"
        say(output(), f"  {points} not shown; to choose another one: {keys}")


def _summary(request: ExplainCommand, study: Study) -> Mapping[str, Any]:
    """Returns what a finished study says."""
    folder = request.out or study_folder(study.name, request.set_ or ())
    words = ["run", request.file, *_set(request.set_ or ())]
    if request.out is not None:
        words += ["--out", request.out]
    try:
        found = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        rows = found["rows"]
    except (OSError, ValueError, KeyError, TypeError):
        message = f"{folder}: holds no finished study to verify against"
        raise CommandError(f"{message}; run it with: {command(*words)}") from None
    known = {row["variant"] for row in rows}
    missing = [f"it has no variant {name}" for name in study.variants if name not in known]
    differs = missing or list(_differences(load_folder(folder), study))
    if differs:
        message = f"{folder}: is of another scenario ({differs[0]})"
        raise CommandError(f"{message}; run this one with: {command(*words)}")
    return dict(found)


def _differences(there: Study, study: Study) -> Iterator[str]:
    """Yields by what the cases that are explained differ from those that a folder's study has."""
    for point in study.points[:MOST_POINTS]:
        for variant in study.variants:
            if there.resolver.digest(point, variant) != study.resolver.digest(point, variant):
                own, other = (
                    document_of(each.scenario(point, variant)) | {"about": ""}
                    for each in (study, there)
                )
                for key, value in differences(own, other).items():
                    yield f"its {variant} has {key}: {shown(value)}"


def _say_verified(explained: Sequence[Explained], summary: Mapping[str, Any]) -> None:
    console = output()
    for each in explained:
        for name, estimate in each.variants.items():
            rows = _compared(estimate, each.point, name, summary)
            saturated = " (saturated: only a rough estimate)" if estimate.is_saturated else ""
            title = f"{name}{', ' if each.point else ''}{each.title}{saturated}"
            print_verified(console, title, rows)
        print_left_out(console, each.variants.values())


def _compared(
    estimate: Estimate, point: Mapping[str, Any], variant: str, summary: Mapping[str, Any]
) -> list[Compared]:
    from analysis.report.explained_table import compared  # needs pandas, which explain does without

    return compared(estimate, point, variant, summary)


def _document(
    study: Study,
    explained: Sequence[Explained],
    warnings: Sequence[str],
    summary: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Returns everything as one JSON document."""
    points = []
    for each in explained:
        variants = {}
        for name, estimate in each.variants.items():
            found = asdict(estimate)
            found["warnings"] = [warning._asdict() for warning in estimate.warnings]
            found["saturated"] = estimate.is_saturated
            found["in_balance"] = estimate.in_balance
            found["write_bytes_per_txn"] = dict(estimate.write_bytes_per_txn) | {
                "all": estimate.bytes_per_txn
            }
            if summary is not None:
                rows = _compared(estimate, each.point, name, summary)
                found["verified"] = [
                    {
                        "figure": row.label.strip(),
                        "estimate": row.estimate,
                        "simulation": row.simulation and row.simulation._asdict(),
                    }
                    for row in rows
                ]
            variants[name] = found
        points.append({"point": dict(each.point), "variants": variants})
    return {
        "study": study.name,
        "points": points,
        "points_left_out": len(study.points) - len(explained),
        "warnings": list(warnings),
    }
