"""Questions about facts, answered where the facts are: executors read them, the driver gets tables.

A question is a call without arguments, and one Spark task. What it reads stays on its executor;
what it returns is pickled. Sums of small tables in Arrow take a tenth of the CPU that Spark SQL
takes to plan and compile them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from analysis.pipeline.job_failure import SparkJobError, why_job_failed

if TYPE_CHECKING:
    from pyspark import SparkContext

QUESTIONS_AT_ONCE: Final = 64
"""In one Spark job: neither the JVM nor Python ever holds more than the answers of one."""

Answer = TypeVar("Answer")


def answers(
    spark: SparkContext | None, questions: Sequence[Callable[[], Answer]]
) -> Iterator[Answer]:
    """Yields the answers in the order of the questions; without Spark from this process.

    Raises:
        SparkJobError: if one could not be answered.
    """
    if spark is None:
        yield from (question() for question in questions)
        return
    for first in range(0, len(questions), QUESTIONS_AT_ONCE):
        yield from _job(spark, questions[first : first + QUESTIONS_AT_ONCE])


def cores(spark: SparkContext | None) -> int:
    """Returns how many questions are answered at the same time."""
    return 1 if spark is None else max(1, int(spark.defaultParallelism))


def _job(spark: SparkContext, questions: Sequence[Callable[[], Answer]]) -> list[Answer]:
    tasks = spark.parallelize(questions, len(questions))
    try:
        found: list[Answer] = tasks.map(lambda question: question()).collect()
    except Exception as error:
        raise SparkJobError(
            f"facts could not be read: {why_job_failed(str(error))}; they are kept"
        ) from error
    return found
