"""``validate``: every anchor beside the model's figure, and whether it lies in its band."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from analysis.cli.failures import ExitStatus
from analysis.cli.model_app import ValidateCommand
from analysis.cli.spark import spark
from analysis.pipeline.session import SparkStarter
from analysis.plots import style
from analysis.program import ROOT
from analysis.running.listener import ProgressListener
from analysis.running.run_study import UnitsMissingError, summarise_study
from analysis.study.load import load_study
from analysis.terminal.console import output, print_json, say, words_aside
from analysis.validation.anchor import Anchor, Judged
from analysis.validation.anchors import ANCHORS
from analysis.validation.figures import STUDIES, file_of, judged_anchor, studies_of
from analysis.validation.plot import anchors_picture
from analysis.validation.table import print_anchors, rows, verdict, write_document

DOCUMENT: Final = ROOT / "docs" / "VALIDATION.md"


def validate_command(request: ValidateCommand) -> int:
    """Judges all anchors; 1 if one lies outside its band."""
    with words_aside(when=request.as_json), spark(request.master) as starter:
        return _validate(request, starter)


def _validate(request: ValidateCommand, starter: SparkStarter) -> int:
    begun_s = time.perf_counter()
    anchors = [anchor for anchor in ANCHORS if anchor.quick or not request.quick]
    summaries = _summaries(request, anchors, starter)
    judged = [judged_anchor(anchor, summaries) for anchor in anchors]
    print_anchors(output(), judged)
    _write(request, judged)
    if request.as_json:
        print_json({"anchors": rows(judged)})
    say(output(), f"{time.perf_counter() - begun_s:.0f} s; table and plot: {request.out}")
    outside = [each for each in judged if each.verdict != "in band"]
    return ExitStatus.CLAIM_FAILED if outside else ExitStatus.FINE


def _summaries(
    request: ValidateCommand, anchors: Sequence[Anchor], starter: SparkStarter
) -> dict[str, Mapping[str, Any] | str]:
    """Returns by study its summary, or why there is none."""
    found: dict[str, Mapping[str, Any] | str] = {}
    for name in studies_of(anchors):
        resolved = load_study(file_of(name), STUDIES[name] if request.quick else ())
        folder = request.out / ("quick" if request.quick else "full") / name
        try:
            found[name] = summarise_study(resolved, folder, starter, ProgressListener()).summary
        except UnitsMissingError as error:
            found[name] = str(error)
    return found


def _write(request: ValidateCommand, judged: Sequence[Judged]) -> None:
    """Writes what was found, and with ``--write`` the project's own document."""
    request.out.mkdir(parents=True, exist_ok=True)
    for name, content in (
        ("validation.json", rows(judged)),
        ("summary.json", {"validation": verdict(judged)}),
    ):
        text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        (request.out / name).write_text(text, encoding="utf-8")
    style.save(anchors_picture(judged), request.out, "validation")
    if request.write:
        write_document(DOCUMENT, judged)
        picture = request.out / "validation.png"
        (DOCUMENT.parent / "img" / picture.name).write_bytes(picture.read_bytes())
