"""The table of anchors: for a terminal, for ``docs/VALIDATION.md`` and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from analysis.metrics.rounding import short
from analysis.report.table import DASH, Cell, ReportTable, Tone, texts
from analysis.report.terminal import print_tables
from analysis.validation.anchor import KINDS, Anchor, Figure, Judged, Kind, Standing

_TONES: Final[dict[str, Tone]] = {
    "in band": "better", "outside": "worse", "refused": "refused",
}  # fmt: skip


def print_anchors(console: Console, judged: Sequence[Judged]) -> None:
    """Prints a table a kind, and how many lie in their bands."""
    for kind, heading in KINDS.items():
        of_kind = [each for each in judged if each.anchor.kind == kind]
        if of_kind:
            print_tables(console, [_table(heading, of_kind)])
    for line in verdict_lines(judged):
        console.print(line, highlight=False, markup=False)


def _table(heading: str, judged: Sequence[Judged]) -> ReportTable:
    rows = []
    for each in judged:
        anchor = each.anchor
        unit = f" ({anchor.unit})" if anchor.unit else ""
        rows.append((
            *texts(
                f"{anchor.name}{unit}{mark_of(anchor)}",
                range_text(anchor.theirs),
                DASH if each.ours is None else middle_text(each.ours),
                error_text(each),
                band_text(anchor),
            ),
            Cell(each.verdict, _TONES[each.verdict]),
        ))  # fmt: skip
    headings = ("anchor", "theirs", "ours", "error", "band", "")
    return ReportTable(heading, headings, tuple(rows), words=(0, 5), spare=(4,))


def verdict_lines(judged: Sequence[Judged]) -> Iterator[str]:
    """Yields what the table comes to, and why anchors are refused."""
    yield f"{in_band(judged)} of {len(judged)} anchors in their bands"
    for name, some in (
        ("theory", [each for each in judged if each.anchor.kind == "theory"]),
        ("published and measured", worldly(judged)),
        ("not used for fitting", predicted(judged)),
    ):
        error = mean_error(some)
        if error is not None:
            yield f"mean absolute error, {name}: {error:.1%}"
    standings = {each.anchor.standing for each in judged}
    yield from (f"{mark} {words}" for standing, mark, words in _MARKS if standing in standings)
    for each in judged:
        if each.reason:
            yield f"refused: {each.anchor.name}: {each.reason}"


def mark_of(anchor: Anchor) -> str:
    """Returns what stands behind an anchor's name where agreement proves little."""
    return next((mark for standing, mark, _ in _MARKS if standing == anchor.standing), "")


_MARKS: Final[tuple[tuple[Standing, str, str], ...]] = (
    ("fitted", "*", "constants of the model were fitted to these, or set with them in view"),
    ("derived", "†", "derived from other figures of the table; not in the mean errors"),
)
_WORLDLY: Final[tuple[Kind, ...]] = ("published", "measured")


def in_band(judged: Sequence[Judged]) -> int:
    """Returns how many lie in their bands."""
    return sum(each.verdict == "in band" for each in judged)


def worldly(judged: Sequence[Judged]) -> list[Judged]:
    """Returns those of the world, published or measured, that follow from no other."""
    return [
        each
        for each in judged
        if each.anchor.kind in _WORLDLY and each.anchor.standing != "derived"
    ]


def predicted(judged: Sequence[Judged]) -> list[Judged]:
    """Returns those of the world that nothing was fitted to."""
    return [each for each in worldly(judged) if each.anchor.standing == "predicted"]


def mean_error(judged: Sequence[Judged]) -> float | None:
    """Returns the mean absolute relative error of the levels among them, None without any.

    Figures in percent are changes, and an error of a change is a difference, not a share of it.
    """
    errors = [
        abs(each.error) for each in judged if each.error is not None and each.anchor.unit != "%"
    ]
    return sum(errors) / len(errors) if errors else None


def range_text(figure: Figure) -> str:
    """Returns ``44.2 to 44.8``, or the number alone."""
    if figure.low == figure.high:
        return short(figure.value)
    return f"{short(figure.low)} to {short(figure.high)}"


def middle_text(figure: Figure) -> str:
    """Returns ``44.5 ± 0.3``, or the number alone."""
    half = (figure.high - figure.low) / 2
    return f"{short(figure.value)} ± {short(half)}" if half else short(figure.value)


def figure_text(figure: Figure, unit: str) -> str:
    """Returns ``44.5 [44.2, 44.8] ms``; without a spread only the number."""
    text = short(figure.value)
    if figure.low != figure.high:
        text += f" [{short(figure.low)}, {short(figure.high)}]"
    return f"{text} {unit}".rstrip()


def error_text(each: Judged) -> str:
    """Returns the error as a share, and for changes in points."""
    if each.ours is None:
        return DASH
    if each.anchor.unit == "%":
        return f"{each.ours.value - each.anchor.theirs.value:+.1f} pt"
    return DASH if each.error is None else f"{each.error:+.1%}"


def band_text(anchor: Anchor) -> str:
    """Returns how far it may be, as a share or an amount."""
    band = anchor.band
    if band.share:
        return f"±{band.share:.0%}"
    unit = "pt" if anchor.unit == "%" else anchor.unit
    return f"±{band.amount:g} {unit}".rstrip()


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
