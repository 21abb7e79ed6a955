"""What a client met at worst, in words: locks lost, transactions failed or without an end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from analysis.metrics.catalogue import ASKED_FOR, MS_PER_NS, MetricKey
from analysis.metrics.numbers import Numbers, StudyNumber
from analysis.metrics.rounding import short
from analysis.page.content import capital
from analysis.page.findings import Findings
from analysis.plots.axes import Axis, place_words
from analysis.report.cells import plain_share
from analysis.statistics.amounts import number_of
from analysis.statistics.outage import unfinished_words

_LOST: Final = MetricKey("locks_lost")
_ABORTED: Final = MetricKey("txn_aborts")
_ASKED_FOR: Final = MetricKey("txn_aborts", ASKED_FOR)
_UNFINISHED: Final = MetricKey("txns_unfinished")
_OLDEST: Final = MetricKey("txn_unfinished_age_ms", stat="max")
_SLOW: Final = MetricKey("txn_latency_ms", stat="p99")


def failures(found: Findings, point: int, names: Sequence[str]) -> str:
    """Returns ``In a run, on average, no lock was lost and 2 transactions failed. ...``.

    The longest transaction is that of all, those that had not ended included.

    Args:
        found: what the study says.
        point: of its plan.
        names: of the variants that are told of, the one in question first.
    """
    moved = _in_a_run(found, point, names[0], MetricKey("leader_transfers"))
    moving = "in a run, on average, "
    if moved >= 1:
        moving = f"while {number_of(moved, 'leader')} moved in a run, on average, "
    lost = moving + _of_each(
        {
            name: f"{_lost_words(_in_a_run(found, point, name, _LOST))} and "
            f"{_failed_words(failed_in_a_run(found, point, name))}{_why_failed(found, point, name)}"
            for name in names
        }
    )
    said = filter(None, (lost, _left(found, point, names), _longest(found, point, names)))
    return " ".join(f"{capital(sentence)}." for sentence in said)


def failures_anywhere(found: Findings, axes: Sequence[Axis]) -> str:
    """Returns the most locks lost and transactions failed in a run at any point, and where."""
    numbers = Numbers(found.summary["rows"], keys=(_LOST, _ABORTED, _ASKED_FOR))

    def most(counts: Sequence[float], words: Callable[[float], str]) -> str:
        greatest = max(counts)
        if not greatest:
            return words(0.0)
        where = place_words(axes, found.points[counts.index(greatest)])
        return f"up to {words(greatest)} in a run (at {where})"

    said = {}
    for name in found.variants:
        lost, aborted, asked_for = (
            [_of_a_run(found, numbers.get(point, name, key)) for point in found.points]
            for key in (_LOST, _ABORTED, _ASKED_FOR)
        )
        failed = [max(all_ - asked, 0.0) for all_, asked in zip(aborted, asked_for, strict=True)]
        said[name] = f"{most(lost, _lost_words)} and {most(failed, _failed_words)}"
    return f"Over all points, {_of_each(said)}."


def failed_in_a_run(found: Findings, point: int, variant: str) -> float:
    """Returns how many transactions failed in a run, without those that were asked to roll back."""
    aborted, asked_for = (_in_a_run(found, point, variant, key) for key in (_ABORTED, _ASKED_FOR))
    return max(aborted - asked_for, 0.0)


def _lost_words(count: float) -> str:
    """Returns ``no lock was lost``, ``1 lock was lost`` or ``12.5 locks were lost``."""
    number = number_of(count, "lock")
    return f"{number} {'were' if number.endswith('s') else 'was'} lost"


def _failed_words(count: float) -> str:
    return f"{number_of(count, 'transaction')} failed"


def _of_each(said: Mapping[str, str]) -> str:
    """Returns what is said of each variant, once for all of which it is the same."""
    return "; ".join(f"{names}{text}" for text, names in _whose(said, "with {} ").items())


def _whose(said: Mapping[str, str], names: str) -> dict[str, str]:
    """Returns for each thing said the names of its variants; no name for what is said of all."""
    of: dict[str, list[str]] = {}
    for name, text in said.items():
        of.setdefault(text, []).append(name)
    if len(of) == 1:
        return dict.fromkeys(of, "")
    return {text: names.format(" and ".join(whose)) for text, whose in of.items()}


def _left(found: Findings, point: int, names: Sequence[str]) -> str:
    """Returns what had not ended when a run did: at most how much, if nobody waited unusually.

    Where nothing had begun it says that.
    """
    left = {name: _in_a_run(found, point, name, _UNFINISHED) for name in names}
    if not any(left.values()):
        ended = (MetricKey("txn_per_s"), _ABORTED)
        if not any(found.amount(point, name, key) for name in names for key in ended):
            return "no transaction began in the time measured"
        return "all had ended with the run"
    oldest_ms = {name: _oldest_ms(found, point, name) for name in names}
    at_the_end = "at the end of a run, on average, "
    if all(_is_usual(found.value(point, name, _SLOW), oldest_ms[name]) for name in names):
        most = unfinished_words(max(left.values()), max(oldest_ms.values()) / 1000)
        return f"{at_the_end}{'at most ' if len(names) > 1 else ''}{most}"
    return at_the_end + _of_each(
        {name: unfinished_words(left[name], oldest_ms[name] / 1000) for name in names}
    )


def _oldest_ms(found: Findings, point: int, variant: str) -> float:
    """Returns the age of the oldest that had not ended in any replication; 0 if all had."""
    if not found.amount(point, variant, _OLDEST):
        return 0.0
    return MS_PER_NS * found.greatest(point, variant, "txn_unfinished")


def _is_usual(slow: StudyNumber, age_ms: float) -> bool:
    """Returns whether of those that ended as many as one in a hundred took longer than an age."""
    return slow.is_there and not slow.at_least and age_ms <= slow.value


def _longest(found: Findings, point: int, names: Sequence[str]) -> str:
    took = {}
    for name in names:
        number = found.value(point, name, MetricKey("txn_latency_ms", stat="max"))
        if number.is_there:
            # Means over replications of the longest and of ages are of different replications.
            longest_ms = MS_PER_NS * found.greatest(point, name, "txn_latency")
            oldest_ms = _oldest_ms(found, point, name)
            more = "more than " if number.at_least or oldest_ms >= longest_ms else ""
            took[name] = f"{more}{short(max(longest_ms, oldest_ms))} ms"
    said = [text + whose for text, whose in _whose(took, " with {}").items()]
    return f"the longest transaction took {', '.join(said)}" if said else ""


def _in_a_run(found: Findings, point: int, variant: str, key: MetricKey) -> float:
    return _of_a_run(found, found.value(point, variant, key))


def _of_a_run(found: Findings, count: StudyNumber) -> float:
    """Returns a count of a whole run; what is averaged is that of a batch."""
    return count.value * found.run.study.run.batches if count.is_there else 0.0


def _why_failed(found: Findings, point: int, variant: str) -> str:
    """Returns `` (47 % of all: deadlock)``; nothing where none failed."""
    share = found.amount(point, variant, MetricKey("txn_failures"))
    if not share:
        return ""
    counts = {
        class_: found.amount(point, variant, MetricKey("txn_aborts", class_))
        for class_ in found.classes(point, "txn_aborts")
        if class_ != ASKED_FOR
    }
    reasons = sorted((why for why, times in counts.items() if times), key=lambda why: -counts[why])
    words = ", ".join(why.replace("_", " ").replace(":", ": ") for why in reasons)
    return f" ({plain_share(share)} of all: {words})"
