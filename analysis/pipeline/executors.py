"""Questions about facts, answered where the facts are: executors read them, the driver gets tables.

A question is one Spark task. What it reads stays on its executor; what it returns is pickled. Sums
of small tables in Arrow take a tenth of the CPU that Spark SQL takes to plan and compile them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from analysis.pipeline.job_failure import SparkJobError, why_job_failed

if TYPE_CHECKING:
    from pyspark import SparkContext

QUESTIONS_AT_ONCE: Final = 64
"""In one Spark job: neither the JVM nor Python ever holds more than the answers of one."""

Answer_co = TypeVar("Answer_co", covariant=True)


class FactsQuestion(Protocol[Answer_co]):
    """Something to be found out from facts; it is pickled and sent to an executor."""

    def answer(self) -> Answer_co:
        """Reads facts and returns what was asked."""


def answers(
    spark: SparkContext | None, questions: Sequence[FactsQuestion[Answer_co]]
) -> Iterator[Answer_co]:
    """Yields the answers in the order of the questions; without Spark from this process.

    Raises:
        SparkJobError: if one could not be answered.
    """
    if spark is None:
        yield from map(_answer, questions)
        return
    for first in range(0, len(questions), QUESTIONS_AT_ONCE):
        yield from _job(spark, questions[first : first + QUESTIONS_AT_ONCE])


def cores(spark: SparkContext | None) -> int:
    """Returns how many questions are answered at the same time."""
    return 1 if spark is None else max(1, int(spark.defaultParallelism))


def _job(spark: SparkContext, questions: Sequence[FactsQuestion[Answer_co]]) -> list[Answer_co]:
    tasks = spark.parallelize(questions, len(questions))
    try:
        found: list[Answer_co] = tasks.map(_answer).collect()
    except Exception as error:
        raise SparkJobError(
            f"facts could not be read: {why_job_failed(str(error))}; they are kept"
        ) from error
    return found


def _answer(question: FactsQuestion[Answer_co]) -> Answer_co:
    return question.answer()
