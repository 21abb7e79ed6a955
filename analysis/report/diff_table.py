"""What two studies' comparison tells a person: what was changed, what moved, what did not.

Fits 80 columns; plain text when the output is no terminal.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from rich.console import Console
from rich.text import Text

from analysis.comparison.moves import FALSE_DISCOVERIES, Move
from analysis.comparison.results import StudyResults
from analysis.comparison.study_diff import Change, StudyDiff
from analysis.metrics.numbers import NumberKey, StudyNumber
from analysis.metrics.rounding import short
from analysis.metrics.shown import HEADLINES, KEY_FIGURE_OF, ShownFigure
from analysis.report.cells import TONES, ratio_cell
from analysis.report.table import DASH, Cell, ReportTable, texts
from analysis.report.terminal import print_tables
from analysis.study.study_outcome import StudyOutcome

LONGEST_VALUE: Final = 40
_PLACES: Final = {figure: place for place, figure in enumerate(KEY_FIGURE_OF)}
_MAIN: Final = frozenset(headline.key for headline in HEADLINES)

_BY_CHANCE: Final = (
    "An interval is of its number alone: of many, some exclude 1 by chance; more replications "
    "decide."
)
_UNKNOWN: Final = "verdict not known, `report` finds it"


def print_diff(console: Console, diff: StudyDiff, *, everything: bool = False) -> None:
    """Prints a comparison; with ``everything`` all changes and all numbers that moved."""
    for part in _parts(diff, None if everything else _Most()):
        if isinstance(part, ReportTable):
            print_tables(console, [part])
        else:
            console.print(part, soft_wrap=not console.is_terminal)


class _Most(NamedTuple):
    """Rows of each table, if not all are shown."""

    changes: int = 15
    moves: int = 25
    alike: int = 12


def _parts(diff: StudyDiff, most: _Most | None) -> Iterator[ReportTable | Text]:
    """Yields tables and sentences in their order."""
    yield Text(f"A  {diff.a.folder}: {study_words(diff.a)}")
    yield Text(f"B  {diff.b.folder}: {study_words(diff.b)}")
    for what, changes in (("scenario", diff.scenario), ("made by", diff.maker)):
        if changes:
            yield changes_table(what, changes[: most and most.changes])
            yield from _more(len(changes), most and most.changes, "more")
        else:
            yield Text(f"{what}: the same")
    facts = diff.facts
    if facts.all_same:
        yield Text(f"facts: the same, byte for byte, in all {facts.a:,} units")
    elif facts.same:
        units = f"{facts.same:,} units of A's {facts.a:,} and B's {facts.b:,}"
        yield Text(f"facts: the same, byte for byte, in {units}")
    yield from _names(diff)
    moved = sorted(diff.moved, key=_weight)
    if moved:
        yield moves_table("Moved beyond noise", moved[: most and most.moves])
        yield from _more(len(moved), most and most.moves, "more moved")
    yield from _alike(diff, most and most.alike)
    yield from _rest(diff)


def _more(count: int, most: int | None, words: str) -> Iterator[Text]:
    """Says how many rows a table would have had beyond the most; None: it has them all."""
    if most is not None and count > most:
        yield Text(f"  and {count - most:,} {words}; --all shows them")


def study_words(of: StudyResults) -> str:
    """Returns how many units a study has, of which seed and commit, and what it came to."""
    manifest = of.manifest
    units = manifest.get("units")
    done = units.get("done") if isinstance(units, dict) else len(manifest.get("digests", {}))
    commit = manifest.get("commit") or "unknown"
    unfinished = "" if manifest.get("finished", True) else ", not finished"
    outcome = "" if of.outcome == StudyOutcome.PASSED else f"; {of.outcome.upper() or _UNKNOWN}"
    return f"{done} units{unfinished}, seed {manifest.get('seed', '?')}, commit {commit}{outcome}"


def changes_table(title: str, changes: Sequence[Change], a: str = "A", b: str = "B") -> ReportTable:
    """Returns a row a key that differs, under the names of the two studies."""
    rows = tuple(
        texts(change.key, value_words(change.a), value_words(change.b)) for change in changes
    )
    return ReportTable(title, ("key", a, b), rows, words=(0, 1, 2))


def value_words(value: Any) -> str:
    """Returns a value of a scenario as a file has it, cut if it is long; a dash for none."""
    if value is None:
        return DASH
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"


def _names(diff: StudyDiff) -> Iterator[Text]:
    """Says what has no counterpart, and what is compared under two names."""
    for what, pairs, mine, theirs in (
        ("variants", diff.variants, diff.a.variants, diff.b.variants),
        ("points", diff.points, diff.a.points, diff.b.points),
    ):
        renamed = [f"{a} of A is compared with {b} of B" for a, b in pairs.items() if a != b]
        if renamed:
            yield Text(f"{what}: {renamed[0]}")
            continue
        for side, names in (("A", mine), ("B", theirs)):
            alone = [name for name in names if name not in pairs]
            if alone:
                shown = ", ".join(alone[:5]) + (" …" if len(alone) > 5 else "")
                both = f"the {len(pairs):,} in both are compared"
                yield Text(f"{what} only in {side}: {shown}; {both}")


def _alike(diff: StudyDiff, most: int | None) -> Iterator[ReportTable | Text]:
    """Yields the main numbers that did not move: how far they may have is in the interval."""
    alike = [each for each in diff.moves if each.judged and not each.moved]
    main = sorted((each for each in alike if each.key.figure in _MAIN), key=_weight)
    if not main or diff.facts.all_same:
        return
    table = moves_table("Main numbers that did not move beyond noise", main[:most])
    if any(each.ci_low > 1 or each.ci_high < 1 for each in main[:most]):
        table = replace(table, notes=(_BY_CHANCE,))
    yield table
    yield from _more(len(main), most, "more")


def moves_table(title: str, moves: Sequence[Move], a: str = "A", b: str = "B") -> ReportTable:
    """Returns a row a number of both studies, with the verdict on its ratio."""
    rows = []
    for move in moves:
        figure = KEY_FIGURE_OF.get(move.key.figure) or ShownFigure(
            move.key.figure, str(move.key.figure)
        )
        settings = move.key.settings
        rows.append((
            *texts(
                move.key.variant + (f", {settings}" if settings else ""),
                figure.title,
                *(_few_digits(of.value * figure.scale) for of in (move.a, move.b)),
            ),
            _ratio_cell(move),
        ))  # fmt: skip
    return ReportTable(title, ("variant", "number", a, b, f"{b} / {a}"), tuple(rows), words=(0, 1))


def _ratio_cell(move: Move) -> Cell:
    ratio = StudyNumber(move.key.figure.metric, move.ratio, move.ci_low, move.ci_high)
    cell = ratio_cell(ratio)
    if not move.judged:
        return replace(cell, tone="quiet", verdict="not judged")
    if not move.moved:
        return replace(cell, tone="quiet", verdict="did not move")
    tone = TONES[move.better]
    return replace(cell, tone=tone, verdict=tone or "moved")


def _weight(move: Move) -> tuple[int, float]:
    """Orders moves: what a reader looks at first, in that order, then the largest."""
    return _PLACES.get(move.key.figure, len(_PLACES)), -move.size


def _few_digits(value: float) -> str:
    """Returns a number in few digits: millions have a word of their own."""
    return f"{value / 1e6:,.1f} M" if abs(value) >= 1e6 else short(value)


def _rest(diff: StudyDiff) -> Iterator[Text]:
    """Says in a few lines what did not move, and what could not be compared."""
    number, total = len(diff.moved), diff.judged
    yield Text(
        f"{number:,} of {total:,} numbers moved beyond noise (Welch's t, "
        f"{100 * FALSE_DISCOVERIES:g} % false discoveries); {total - number:,} did not"
    )
    bounded = [move for move in diff.moves if move.bounded]
    if bounded:
        first = bounded[0]
        told = f"{first.key.variant}, {first.key.figure}: {first.words}"
        more = f", and {len(bounded) - 1:,} more" if bounded[1:] else ""
        yield Text(f"not judged, since something had not ended: {told}{more}", "yellow")
    single = len(diff.moves) - total - len(bounded)
    if single:
        why = "have no interval in A or B and were not judged: run at least two replications"
        yield Text(f"{single:,} numbers {why}")
    yield from _refused(diff)
    for side, keys in (("A", diff.numbers.only_a), ("B", diff.numbers.only_b)):
        if keys:
            names = list(dict.fromkeys(str(key.figure) for key in keys))
            shown = ", ".join(names[:4]) + (f" and {len(names) - 4:,} more" if names[4:] else "")
            yield Text(f"only in {side}: {shown}")


def _refused(diff: StudyDiff) -> Iterator[Text]:
    """Says what is refused in one of the studies only, and what in both, with a reason."""
    found: dict[str, list[tuple[NumberKey, str]]] = {"A": [], "B": [], "both": []}
    for key, a, b in diff.numbers.refused:
        side = "both" if a.refused and b.refused else "A" if a.refused else "B"
        found[side].append((key, b.refused or a.refused))
    for side, refused in found.items():
        if refused:
            (key, reason), *others = refused
            more = f" and {len(others):,} other numbers" if others else ""
            yield Text(f"refused in {side}: {key.variant}, {key.figure}{more}: {reason}", "yellow")
