"""The answer in a few sentences, with numbers and intervals, and the main numbers as tiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from analysis.metrics.catalogue import MetricKey
from analysis.metrics.numbers import StudyNumber, change_parts, change_text, span_text
from analysis.metrics.rounding import NOT_KNOWN
from analysis.metrics.shown import HEADLINES, TO_KIB, TO_MB, ShownFigure
from analysis.page.answer_wider import capital, of_capacity, of_sweep
from analysis.page.capacity import capacity_tiles
from analysis.page.content import Tile
from analysis.page.failures import failed_in_a_run, failures
from analysis.page.findings import Findings
from analysis.page.waiting import TXNS, full_words, waits_words
from analysis.report.cells import plain_value, tone_of

LOCKS: Final = MetricKey("lock_latency_ms")
BYTES: Final = MetricKey("disk_write_bytes_per_txn")
BANDWIDTH: Final = MetricKey("disk_write_bytes_per_s")
RATE: Final = MetricKey("txn_per_s")
ASKED: Final = MetricKey("lock_rpcs_per_txn")


def answer(found: Findings) -> tuple[str, ...]:
    """Returns the answer to the study's question."""
    if "capacity" in found.summary:
        return (*_stopped(found), *of_capacity(found.summary["capacity"]))
    if "sensitivity" in found.summary:
        return tuple(f"{one['says']}." for one in found.summary["sensitivity"]["outcomes"])
    if len(found.points) > 1:
        return tuple(of_sweep(found))
    if len(found.variants) > 1:
        return tuple(_of_pair(found))
    return tuple(_of_one(found))


def tiles(found: Findings) -> tuple[Tile, ...]:
    """Returns the main numbers: of a comparison at one point, or each case's capacity."""
    if "capacity" in found.summary:
        return capacity_tiles(found.summary["capacity"])
    if len(found.whole_points) != 1:
        return ()
    made = [_tile(found, headline) for headline in HEADLINES]
    return tuple(tile for tile in made if tile is not None)


def _tile(found: Findings, headline: ShownFigure) -> Tile | None:
    value = found.value(0, found.main, headline.key)
    if not value.is_there:
        return None
    new = _amount(value, headline.unit, headline.scale)
    ratio, base = (
        found.ratio(0, found.main, headline.key),
        found.value(0, found.baseline, headline.key),
    )
    if not ratio.is_there or not base.is_there:
        return Tile(headline.name, new, "", f"with {found.main}")
    old = _amount(base, headline.unit, headline.scale)
    detail = f"{new} with {found.main}, {old} with {found.baseline}"
    return Tile(headline.name, *change_parts(ratio), detail, tone_of(ratio))


def _amount(number: StudyNumber, unit: str, scale: float = 1.0) -> str:
    """Returns a value with its unit, or that it is not known yet."""
    text = plain_value(number, scale)
    return text if text == NOT_KNOWN else f"{text} {unit}".rstrip()


def _instead(new: StudyNumber, old: StudyNumber, unit: str, scale: float = 1.0) -> str:
    """Returns `` (187 KiB instead of 291)``; nothing where one of the two is not known yet."""
    shown = _amount(new, unit, scale), plain_value(old, scale)
    return "" if NOT_KNOWN in shown else f" ({shown[0]} instead of {shown[1]})"


def _doubt(ratio: StudyNumber) -> str:
    """Returns a change that may be none, in brackets; nothing where it is not known yet."""
    text = change_text(ratio)
    return "" if text == NOT_KNOWN else f" ({text})"


def _of_pair(found: Findings) -> Iterator[str]:
    """What stopped; what failed, if anything could; then latency, and what it costs or saves.

    Where the disks write more because more is done, that comes first: it is not what the question
    about a transaction's bytes lets expect.
    """
    point = 0
    yield from _stopped(found)
    does_more = _writes_more_by_doing_more(found, point)
    if does_more:
        yield _part(found, point, BANDWIDTH, _more_done_words)
    if found.document.get("operations") or failed_in_a_run(found, point, found.main):
        yield failures(found, point, [found.main, found.baseline])
    locks = found.value(point, found.main, LOCKS)
    key = LOCKS if locks.is_there or locks.refused else TXNS
    asked = [found.value(point, name, ASKED) for name in (found.main, found.baseline)]
    if all(number.value == 0 for number in asked):
        yield "No transaction asks for a lock."
    yield _latency(found, point, key)
    if waits := waits_words(found, point):
        yield waits
    gains = _part(found, point, BYTES, _bytes_words), _part(found, point, RATE, _rate_words)
    if any(gains):
        yield f"{capital(' and '.join(filter(None, gains)))}."
    bandwidth = "" if does_more else _part(found, point, BANDWIDTH, _bandwidth_words)
    if bandwidth:
        yield bandwidth
    if limit := full_words(found, point):
        yield limit


def _writes_more_by_doing_more(found: Findings, point: int) -> bool:
    """Returns whether bytes a second rise, and transactions, but not the bytes of each."""
    ratios = [found.ratio(point, found.main, key) for key in (BANDWIDTH, RATE, BYTES)]
    return [ratio.value > 1 for ratio in ratios if ratio.told_apart] == [True, True, False]


def _more_done_words(found: Findings, point: int, ratio: StudyNumber) -> str:
    return (
        f"With {found.main}, the disks write {span_text(ratio)} more a second"
        f"{_megabytes(found, point)}, because more transactions are done; each writes less."
    )


def _bandwidth_words(found: Findings, point: int, ratio: StudyNumber) -> str:
    if ratio.has_interval and not ratio.told_apart:
        return f"Disk writes a second cannot be told apart{_doubt(ratio)}."
    rate = found.ratio(point, found.main, RATE)
    is_same = rate.has_interval and not rate.told_apart
    at = "At the same rate of transactions the" if is_same else "The"
    more = "less" if ratio.value < 1 else "more"
    return f"{at} disks write {span_text(ratio)} {more} a second{_megabytes(found, point)}."


def _megabytes(found: Findings, point: int) -> str:
    new, old = (found.value(point, name, BANDWIDTH) for name in (found.main, found.baseline))
    return _instead(new, old, "MB/s", TO_MB)


def _stopped(found: Findings) -> Iterator[str]:
    """Yields what stopped or fell, if anything did; the notices name each case."""
    if found.summary["verdict"]["says"]:
        yield capital(found.summary["verdict"]["says"])


def _latency(found: Findings, point: int, key: MetricKey) -> str:
    what = "a lock request" if key == LOCKS else "a transaction"
    new, old = (found.value(point, name, key) for name in (found.main, found.baseline))
    for name, of in ((found.main, new), (found.baseline, old)):
        if of.at_least:
            return (
                f"How long {what} takes with {name} is not known: {_amount(of, 'ms')} on average."
            )
        if of.refused:
            return f"Latencies of {name} are refused: {of.refused}."
    ratio = found.ratio(point, found.main, key)
    if not (new.is_there and old.is_there and ratio.is_there):
        return f"No latency can be compared between {found.main} and {found.baseline}."
    shown = _amount(new, "ms"), _amount(old, "ms")
    if NOT_KNOWN in shown:
        names = f"{found.main} ({shown[0]}) and {found.baseline} ({shown[1]})"
        return f"How long {what} takes on average varies too much from run to run: {names}."
    told = f"With {found.main}, {what} takes {shown[0]} on average"
    against = f"{shown[1]} with {found.baseline}"
    if ratio.has_interval and not ratio.told_apart:
        return f"{told}, {against}: the two cannot be told apart{_doubt(ratio)}."
    way = "less" if ratio.value < 1 else "more"
    return f"{told} instead of {against}: {span_text(ratio)} {way}."


def _part(
    found: Findings, point: int, key: MetricKey, words: Callable[[Findings, int, StudyNumber], str]
) -> str:
    ratio = found.ratio(point, found.main, key)
    return words(found, point, ratio) if ratio.is_there else ""


def _bytes_words(found: Findings, point: int, ratio: StudyNumber) -> str:
    new, old = (found.value(point, name, BYTES) for name in (found.main, found.baseline))
    if ratio.has_interval and not ratio.told_apart:
        return f"disk writes per transaction cannot be told apart{_doubt(ratio)}"
    more = "less" if ratio.value < 1 else "more"
    much = f"{span_text(ratio)} {more}"
    return f"a transaction writes {much} to disk{_instead(new, old, 'KiB', TO_KIB)}"


def _rate_words(found: Findings, point: int, ratio: StudyNumber) -> str:
    new, old = (found.value(point, name, RATE) for name in (found.main, found.baseline))
    shown = [plain_value(number) for number in (new, old)]
    if ratio.has_interval and not ratio.told_apart:
        if NOT_KNOWN in shown:
            return f"transactions a second cannot be told apart{_doubt(ratio)}"
        return f"transactions a second cannot be told apart ({shown[0]} and {shown[1]})"
    more = "more" if ratio.value > 1 else "fewer"
    much = f"{span_text(ratio)} {more}"
    return f"the cluster commits {much} transactions a second{_instead(new, old, '')}"


def _of_one(found: Findings) -> Iterator[str]:
    """One variant: what it does, compared with nothing."""
    point = 0
    yield from _stopped(found)
    if found.document.get("operations") or failed_in_a_run(found, point, found.main):
        yield failures(found, point, [found.main])
    numbers = [found.value(point, found.main, headline.key) for headline in HEADLINES]
    refused = next((number.refused for number in numbers if number.refused), "")
    if refused:
        yield f"Latencies are refused: {refused}."
    for headline, number in zip(HEADLINES, numbers, strict=True):
        if number.is_there:
            text = number.text(headline.scale)
            unit = f" {headline.unit}" if headline.unit and text != NOT_KNOWN else ""
            yield f"{headline.name}: {text}{unit}."
    yield from filter(None, (waits_words(found, point), full_words(found, point)))
