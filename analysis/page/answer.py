"""The answer in a few sentences, with numbers and intervals, and the main numbers as tiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from analysis.metrics.catalogue import MetricKey
from analysis.metrics.numbers import StudyNumber, change_parts, change_text, span_text
from analysis.metrics.rounding import NOT_KNOWN
from analysis.metrics.shown import HEADLINES, TO_KIB, TO_MB, ShownFigure
from analysis.page.answer_of_sweep import of_sweep
from analysis.page.capacity import capacity_tiles, of_capacity
from analysis.page.content import Tile, capital
from analysis.page.failures import failed_in_a_run, failures
from analysis.page.findings import Findings
from analysis.page.waiting import TXNS, full_words, waits_words
from analysis.report.cells import amount, behind, plain_value, tone_of

LOCKS: Final = MetricKey("lock_latency_ms")
BYTES: Final = MetricKey("disk_write_bytes_per_txn")
BANDWIDTH: Final = MetricKey("disk_write_bytes_per_s")
RATE: Final = MetricKey("txn_per_s")
ASKED: Final = MetricKey("lock_rpcs_per_txn")
_ALIKE: Final = 0.02
"""Rates whose ratio is known to be so near to 1 are called the same."""


def answer(found: Findings) -> tuple[str, ...]:
    """Returns the answer to the study's question."""
    if "capacity" in found.summary:
        return (*_stopped(found), *of_capacity(found.summary["capacity"]))
    if "sensitivity" in found.summary:
        return tuple(f"{one['says']}." for one in found.summary["sensitivity"]["outcomes"])
    if len(found.points) > 1:
        return tuple(of_sweep(found))
    if len(found.variants) > 1:
        return tuple(_of_variants(found))
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
    new = amount(value, headline.unit, headline.scale)
    ratio, base = (
        found.ratio(0, found.main, headline.key),
        found.value(0, found.baseline, headline.key),
    )
    if not ratio.is_there or not base.is_there:
        return Tile(headline.name, new, "", f"with {found.main}")
    old = amount(base, headline.unit, headline.scale)
    detail = f"{new} with {found.main}, {old} with {found.baseline}"
    return Tile(headline.name, *change_parts(ratio), detail, tone_of(ratio))


def _doubt(ratio: StudyNumber) -> str:
    """Returns a change that may be none, in brackets; nothing where it is not known yet."""
    text = change_text(ratio)
    return "" if text == NOT_KNOWN else f" ({text})"


def _of_variants(found: Findings) -> Iterator[str]:
    """What stopped; what failed, if anything could; then each variant against the baseline."""
    point = 0
    yield from _stopped(found)
    if found.document.get("operations") or failed_in_a_run(found, point, found.main):
        yield failures(found, point, found.told)
    if all(found.value(point, name, ASKED).value == 0 for name in found.told):
        yield "No transaction asks for a lock."
    first, *others = found.compared
    yield from _against_baseline(_Pair(found, point, first))
    for name in others:
        yield " ".join(_against_baseline(_Pair(found, point, name)))
    yield from filter(None, (waits_words(found, point), full_words(found, point)))


class _Pair(NamedTuple):
    """A variant beside the baseline, at a point."""

    found: Findings
    point: int
    name: str

    def values(self, key: MetricKey) -> tuple[StudyNumber, StudyNumber]:
        """Returns the variant's number, and the baseline's."""
        found = self.found
        new, old = (found.value(self.point, of, key) for of in (self.name, found.baseline))
        return new, old

    def ratio(self, key: MetricKey) -> StudyNumber:
        """Returns the variant's number over the baseline's."""
        return self.found.ratio(self.point, self.name, key)

    def part(self, key: MetricKey, words: Callable[[_Pair, StudyNumber], str]) -> str:
        """Returns what is said of a ratio; nothing where there is none."""
        ratio = self.ratio(key)
        return words(self, ratio) if ratio.is_there else ""

    def instead(self, key: MetricKey, unit: str, scale: float = 1.0) -> str:
        """Returns `` (187 KiB instead of 291)``; nothing where one of the two is not known yet."""
        new, old = self.values(key)
        shown = amount(new, unit, scale), plain_value(old, scale)
        return "" if NOT_KNOWN in shown else f" ({shown[0]} instead of {shown[1]})"


def _against_baseline(pair: _Pair) -> Iterator[str]:
    """Latency, and what it costs or saves.

    Where the disks write more because more is done, that comes first: it is not what the question
    about a transaction's bytes lets expect.
    """
    if _is_alike(pair):
        yield f"With {pair.name}, all main numbers are the same as with {pair.found.baseline}."
        return
    # Bytes a second rise, and transactions, but not the bytes of each.
    ratios = [pair.ratio(key) for key in (BANDWIDTH, RATE, BYTES)]
    does_more = [ratio.value > 1 for ratio in ratios if ratio.told_apart] == [True, True, False]
    if does_more:
        yield (
            f"With {pair.name}, the disks write {span_text(ratios[0])} more a second"
            f"{pair.instead(BANDWIDTH, 'MB/s', TO_MB)}, because more transactions are done; "
            "each writes less."
        )
    locks, _ = pair.values(LOCKS)
    yield _latency(pair, LOCKS if locks.is_there or locks.refused else TXNS)
    gains = pair.part(BYTES, _bytes_words), pair.part(RATE, _rate_words)
    if any(gains):
        yield f"{capital(' and '.join(filter(None, gains)))}."
    bandwidth = "" if does_more else pair.part(BANDWIDTH, _bandwidth_words)
    if bandwidth:
        yield bandwidth


def _is_alike(pair: _Pair) -> bool:
    """Returns whether nothing tells the two apart: the same transactions with the same times."""
    keys = [headline.key for headline in HEADLINES]
    if any(of.refused or of.at_least for key in keys for of in pair.values(key)):
        return False
    ratios = [ratio for ratio in map(pair.ratio, keys) if ratio.is_there]
    return bool(ratios) and all(
        ratio.value == 1 and (not ratio.has_interval or ratio.half == 0) for ratio in ratios
    )


def _bandwidth_words(pair: _Pair, ratio: StudyNumber) -> str:
    if ratio.has_interval and not ratio.told_apart:
        return f"Disk writes a second cannot be told apart{_doubt(ratio)}."
    rate = pair.ratio(RATE)
    at = "At the same rate of transactions the" if _is_same(rate) else "The"
    more = "less" if ratio.value < 1 else "more"
    instead = pair.instead(BANDWIDTH, "MB/s", TO_MB)
    return f"{at} disks write {span_text(ratio)} {more} a second{instead}."


def _is_same(ratio: StudyNumber) -> bool:
    """Returns whether two numbers are certainly alike, as rates are where as many arrive."""
    if not ratio.has_interval:
        return ratio.value == 1
    return 1 - _ALIKE <= ratio.ci_low <= ratio.ci_high <= 1 + _ALIKE


def _stopped(found: Findings) -> Iterator[str]:
    """Yields what stopped or fell, if anything did; the notices name each case."""
    if found.summary["verdict"]["says"]:
        yield capital(found.summary["verdict"]["says"])


def _latency(pair: _Pair, key: MetricKey) -> str:
    what = "a lock request" if key == LOCKS else "a transaction"
    new, old = pair.values(key)
    baseline = pair.found.baseline
    for name, of in ((pair.name, new), (baseline, old)):
        if of.at_least:
            return f"How long {what} takes with {name} is not known: {amount(of, 'ms')} on average."
        if of.refused:
            return f"Latencies of {name} are refused: {of.refused}."
    ratio = pair.ratio(key)
    if not (new.is_there and old.is_there and ratio.is_there):
        return f"No latency can be compared between {pair.name} and {baseline}."
    shown = amount(new, "ms"), amount(old, "ms")
    if NOT_KNOWN in shown:
        names = f"{pair.name} ({shown[0]}) and {baseline} ({shown[1]})"
        return f"How long {what} takes on average varies too much from run to run: {names}."
    told = f"With {pair.name}, {what} takes {shown[0]} on average"
    against = f"{shown[1]} with {baseline}"
    if ratio.has_interval and not ratio.told_apart:
        return f"{told}, {against}: the two cannot be told apart{_doubt(ratio)}."
    way = "less" if ratio.value < 1 else "more"
    return f"{told} instead of {against}: {span_text(ratio)} {way}."


def _bytes_words(pair: _Pair, ratio: StudyNumber) -> str:
    if ratio.has_interval and not ratio.told_apart:
        return f"disk writes per transaction cannot be told apart{_doubt(ratio)}"
    more, instead = "less" if ratio.value < 1 else "more", pair.instead(BYTES, "KiB", TO_KIB)
    return f"a transaction writes {span_text(ratio)} {more} to disk{instead}"


def _rate_words(pair: _Pair, ratio: StudyNumber) -> str:
    shown = [plain_value(number) for number in pair.values(RATE)]
    if _is_same(ratio) and (shown[0] == shown[1] or not ratio.told_apart):
        rates = " and ".join(dict.fromkeys(each for each in shown if each != NOT_KNOWN))
        about = "about " if shown[0] != shown[1] else ""
        many = f" ({rates})" if rates else ""
        return f"the cluster commits {about}as many transactions a second{many}"
    if ratio.has_interval and not ratio.told_apart:
        rates = _doubt(ratio) if NOT_KNOWN in shown else f" ({shown[0]} and {shown[1]})"
        return f"transactions a second cannot be told apart{rates}"
    more = "more" if ratio.value > 1 else "fewer"
    much = f"{span_text(ratio)} {more}"
    return f"the cluster commits {much} transactions a second{pair.instead(RATE, '')}"


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
            yield f"{headline.name}: {_with_unit(number.scaled(headline.scale), headline.unit)}."
    yield from filter(None, (waits_words(found, point), full_words(found, point)))


def _with_unit(number: StudyNumber, unit: str) -> str:
    """Returns ``450 ± 3 KiB``, ``> 450 KiB`` or ``450 KiB (n=1)``."""
    if not (number.has_interval or number.at_least):
        return f"{amount(number, unit)} (n={number.replications})"
    text = number.text()
    return text if text == NOT_KNOWN else f"{text}{behind(unit)}"
