"""The judged anchors as documents: ``docs/VALIDATION.md``, and what ``validate --json`` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from analysis.validation.anchor import KINDS, Judged
from analysis.validation.table import (
    band_text,
    error_text,
    figure_text,
    in_band,
    mark_of,
    mean_error,
    predicted,
    verdict_lines,
)

BEGIN = "<!-- anchors: written by `run_sim.py validate --write` -->"
END = "<!-- end of anchors -->"


class DocumentError(ValueError):
    """The document has no place for the anchors."""


def written(text: str, judged: Sequence[Judged]) -> str:
    """Returns a document with the table of anchors in its place; what is around it stays.

    Raises:
        DocumentError: if the place is not marked.
    """
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise DocumentError(f"no lines {BEGIN} and {END} between which the anchors belong")
    return f"{head}{BEGIN}\n\n" + "\n".join(_lines(judged)) + f"\n{END}{tail}"


def write_document(path: Path, judged: Sequence[Judged]) -> None:
    """Brings a document up to date."""
    path.write_text(written(path.read_text(encoding="utf-8"), judged), encoding="utf-8")


def _lines(judged: Sequence[Judged]) -> Iterator[str]:
    yield from (f"{line}  ".replace("* ", "\\* ", 1) for line in verdict_lines(judged))
    for kind, heading in KINDS.items():
        of_kind = [each for each in judged if each.anchor.kind == kind]
        if not of_kind:
            continue
        yield f"\n### {heading[0].upper()}{heading[1:]}\n"
        yield "| anchor | conditions | theirs | ours | error | band | | source |"
        yield "|---|---|---|---|---|---|---|---|"
        yield from map(_line, of_kind)
    yield ""


def _line(each: Judged) -> str:
    anchor = each.anchor
    ours = "–" if each.ours is None else figure_text(each.ours, anchor.unit)
    verdict = each.verdict if each.verdict == "in band" else f"**{each.verdict}**"
    cells = (
        anchor.name + mark_of(anchor).replace("*", "\\*"), anchor.conditions,
        figure_text(anchor.theirs, anchor.unit), ours, error_text(each), band_text(anchor), verdict,
        anchor.source,
    )  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def rows(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """Returns a row an anchor: what it is, both figures with their spread, error and verdict."""
    return [
        {
            "anchor": each.anchor.name,
            "kind": each.anchor.kind,
            "conditions": each.anchor.conditions,
            "source": each.anchor.source,
            "unit": each.anchor.unit,
            "standing": each.anchor.standing,
            "theirs": asdict(each.anchor.theirs),
            "ours": None if each.ours is None else asdict(each.ours),
            "error": each.error,
            "band": each.anchor.band.around(each.anchor.theirs),
            "verdict": each.verdict,
            "reason": each.reason,
        }
        for each in judged
    ]


def verdict(judged: Sequence[Judged]) -> dict[str, float | None]:
    """Returns what the anchors come to: how many, how many in band, mean error of predictions."""
    return {
        "anchors": len(judged),
        "in_band": in_band(judged),
        "error_of_predicted": mean_error(predicted(judged)),
    }
