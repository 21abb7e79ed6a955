"""What a client met at worst, in words: locks lost, transactions failed or without an end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.metrics.catalogue import ASKED_FOR, MetricKey
from analysis.metrics.rounding import short
from analysis.page.findings import Findings
from analysis.report.cells import plain_share
from analysis.statistics.amounts import number_of
from analysis.statistics.unfinished import unfinished_words


def failures(found: Findings, point: int, names: Sequence[str]) -> str:
    """Returns ``In a run, on average, no lock was lost and 2 transactions failed; ...``.

    The longest transaction is that of all, those that had not ended included.

    Args:
        found: what the study says.
        point: of its plan.
        names: of the variants that are told of, the one in question first.
    """
    moved = _in_a_run(found, point, names[0], MetricKey("leader_transfers"))
    moving = "In a run, on average, "
    if moved >= 1:
        moving = f"While {number_of(moved, 'leader')} moved in a run, on average, "
    said = [
        _of_each({name: say(found, point, name) for name in names})
        for say in (_lost_and_failed, _left, _longest)
    ]
    return f"{moving}{'; '.join(filter(None, said))}."


def failed_in_a_run(found: Findings, point: int, variant: str) -> float:
    """Returns how many transactions failed in a run, without those that were asked to roll back."""
    every, asked = (
        _in_a_run(found, point, variant, MetricKey("txn_aborts", class_))
        for class_ in ("all", ASKED_FOR)
    )
    return max(every - asked, 0.0)


def _of_each(said: Mapping[str, str]) -> str:
    """Returns what is said of each variant: once, if it is the same of all."""
    if len(set(said.values())) == 1:
        return next(iter(said.values()))
    return ", and ".join(f"with {name} {text}" for name, text in said.items())


def _lost_and_failed(found: Findings, point: int, variant: str) -> str:
    lost = _count(_in_a_run(found, point, variant, MetricKey("locks_lost")), "lock")
    failed = number_of(failed_in_a_run(found, point, variant), "transaction")
    return f"{lost} lost and {failed} failed{_why_failed(found, point, variant)}"


def _left(found: Findings, point: int, variant: str) -> str:
    """Returns what had not ended when the run did."""
    left = _in_a_run(found, point, variant, MetricKey("txns_unfinished"))
    if not left:
        return "all had ended"
    oldest_ms = found.amount(point, variant, MetricKey("txn_unfinished_age_ms", stat="max"))
    return unfinished_words(left, oldest_ms / 1000)


def _longest(found: Findings, point: int, variant: str) -> str:
    number = found.value(point, variant, MetricKey("txn_latency_ms", stat="max"))
    if not number.is_there:
        return ""
    more = "more than " if number.at_least else ""
    return f"the longest transaction took {more}{short(number.value)} ms"


def _in_a_run(found: Findings, point: int, variant: str, key: MetricKey) -> float:
    """Returns a count of a whole run; what is averaged is that of a batch."""
    return found.amount(point, variant, key) * found.run.study.run.batches


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
    words = ", ".join(why.replace("_", " ") for why in reasons)
    return f" ({plain_share(share)} of all: {words})"


def _count(times: float, what: str) -> str:
    """Returns ``no lock was``, ``1 lock was`` or ``12.5 locks were``."""
    number = number_of(times, what)
    return f"{number} were" if number.endswith("s") else f"{number} was"
