"""``diff``: two studies beside each other, from what they have summed up. No Spark here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from analysis.cli.failures import CommandError, ExitStatus
from analysis.cli.new_files import refuse_foreign
from analysis.cli.study_app import DiffCommand
from analysis.comparison.guards import Breach, Guard, breaches
from analysis.comparison.moves import Move
from analysis.comparison.results import StudyResults, read_results
from analysis.comparison.study_diff import StudyDiff, study_diff
from analysis.metrics.numbers import NumberKey, StudyNumber
from analysis.report.diff_table import print_diff
from analysis.study.study_folder import write_text_whole
from analysis.study.study_outcome import StudyOutcome
from analysis.terminal.console import output, print_json, say


def diff_command(request: DiffCommand) -> int:
    """Compares two studies; 1 if what is guarded became worse, 2 with nothing to compare.

    A guard holds only if B as a whole came to nothing graver than A.
    """
    try:
        guards = [Guard.parse(text) for text in request.fail_on or ()]
        diff = study_diff(read_results(request.a), read_results(request.b))
        found = [breach for guard in guards for breach in breaches(guard, diff)]
    except ValueError as error:
        raise CommandError(f"--fail-on: {error}") from error
    graver = bool(guards) and StudyOutcome.became_graver(diff.a.outcome, diff.b.outcome)
    if request.html is not None:
        _write(diff, request.html)
    if request.as_json:
        print_json(diff_document(diff, found))
    else:
        print_diff(output(), diff, everything=request.everything)
        for breach in found:
            say(output(), f"worse: {_breach_words(breach)}", "red")
        if graver:
            came = f"A came to {diff.a.outcome}, B to {diff.b.outcome}"
            say(output(), f"worse: {came}, whatever its numbers say", "red")
        elif guards and not found:
            say(output(), f"fine: {', '.join(map(str, guards))}")
    return ExitStatus.CLAIM_FAILED if found or graver else ExitStatus.FINE


def _write(diff: StudyDiff, file: Path) -> None:
    """Writes the page, over an older one if need be, but over no other file."""
    from analysis.serve.compare import TITLE, comparison_file

    studies = [(of.folder.resolve().name, of) for of in (diff.a, diff.b)]
    if studies[0][0] == studies[1][0]:
        studies = [(str(of.folder), of) for of in (diff.a, diff.b)]
    try:
        refuse_foreign(file, TITLE)
        write_text_whole(file, comparison_file(studies))
    except OSError as error:
        message = f"{file}: cannot be written ({error.strerror}); choose another file"
        raise CommandError(message) from error


def _breach_words(breach: Breach) -> str:
    point = breach.key.settings
    where = f" at {point}" if point else ""
    return f"{breach.key.variant}{where}: {breach.key.figure} {breach.reason}"


def diff_document(diff: StudyDiff, found: Sequence[Breach]) -> dict[str, Any]:
    """Returns what ``diff --json`` prints."""
    return {
        "a": _study(diff.a),
        "b": _study(diff.b),
        "scenario": [change._asdict() for change in diff.scenario],
        "made_by": [change._asdict() for change in diff.maker],
        "facts": {**diff.facts._asdict(), "all_same": diff.facts.all_same},
        "variants": diff.variants,
        "judged": diff.judged,
        "moved": [_move(move) for move in diff.moved],
        "not_judged": len(diff.moves) - diff.judged,
        "refused": [
            _key(key) | {"a": a.refused or None, "b": b.refused or None}
            for key, a, b in diff.numbers.refused
        ],
        "only_a": [_key(key) for key in diff.numbers.only_a],
        "only_b": [_key(key) for key in diff.numbers.only_b],
        "graver": StudyOutcome.became_graver(diff.a.outcome, diff.b.outcome),
        "worse": [
            _key(breach.key) | {"fail_on": str(breach.guard), "reason": breach.reason}
            for breach in found
        ],
    }


def _study(of: StudyResults) -> dict[str, Any]:
    said = {name: of.manifest.get(name) for name in ("study", "commit", "seed", "finished")}
    return {"folder": str(of.folder), "outcome": of.outcome or None, **said}


def _key(key: NumberKey) -> dict[str, Any]:
    return {"point": json.loads(key.point), "variant": key.variant, **key.figure.columns}


def _number(of: StudyNumber) -> dict[str, Any]:
    return {"value": of.value, "ci_low": of.ci_low, "ci_high": of.ci_high}


def _move(move: Move) -> dict[str, Any]:
    return _key(move.key) | {
        "unit": move.a.unit,
        "a": _number(move.a),
        "b": _number(move.b),
        "ratio": move.ratio,
        "ci_low": move.ci_low,
        "ci_high": move.ci_high,
        "q": move.q,
        "worse": move.better is False,
    }
