"""Jobs of Spark: questions about facts, and what its many words mean when something breaks.

A question is a call without arguments, and one Spark task: executors read the facts, the driver
gets tables. What it reads stays on its executor; what it returns is pickled. Sums of small tables
in Arrow take a tenth of the CPU that Spark SQL takes to plan and compile them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from analysis.program import IS_INSTALLED
from analysis.study.unit_folder import UnitNotWrittenError

if TYPE_CHECKING:
    from pyspark import SparkContext

QUESTIONS_AT_ONCE: Final = 64
"""In one Spark job: neither the JVM nor Python ever holds more than the answers of one."""

Answer = TypeVar("Answer")

_THROWN: Final = "Exception in thread"
"""How the JVM begins to say that what it ran has failed."""

_NO_GATEWAY: Final = "Java gateway process exited"
"""What PySpark says if the JVM ended before it could be called."""
_PY4J: Final = "An error occurred while calling"
_JAVA: Final = (
    ": install it (openjdk-17-jre-headless), or set JAVA_HOME"
    if IS_INSTALLED
    else ", which `make setup` finds or installs"
)
_NOT_WRITTEN: Final = re.compile(
    rf"{UnitNotWrittenError.__name__}: \[Errno (\d+|None)\] (.*?)(?:: '(.*)')?$", re.MULTILINE
)


class SparkJobError(Exception):
    """Spark gave up on a job; the message says why. Units that are done are kept."""


def not_written(text: str) -> OSError | None:
    """Returns the error that a worker had with the study's folder, from Spark's words."""
    found = _NOT_WRITTEN.search(text)
    if found is None:
        return None
    number, reason, where = found.groups()
    return OSError(int(number) if number.isdigit() else 0, reason, where or "the study's folder")


def why_job_failed(text: str) -> str:
    """Returns what a user can use of Spark's words: the cause, not where it was noticed."""
    if "PYTHON_VERSION_MISMATCH" in text:
        return (
            "the executors run another Python than this one; set PYSPARK_PYTHON to a Python of "
            "the same minor version that they have, with the packages of requirements.lock"
        )
    if "Python worker exited unexpectedly" in text:
        return "Python processes of executors ended before they had begun a unit"
    missing = re.search(r"^ModuleNotFoundError: (.*)$", text, re.MULTILINE)
    if missing:
        return f"{missing[1]} on an executor; its Python needs the packages of requirements.lock"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    return (causes or lines or ["no reason given"])[-1 if causes else 0]


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


def why_not_started(master: str, jvm_said: str, error: str) -> str:
    """Returns one sentence from what the JVM has written, or from Python's error without any."""
    lines = [line.strip() for line in jvm_said.splitlines()]
    told = [line for line in lines if line and not line.startswith(("at ", "...", "WARNING"))]
    failed = f"Spark did not start on {master}"
    if any("ERROR" in line for line in told):
        return f"{failed}: {told[-1].rstrip('.!')}"  # Java ran, so it is not what is missing
    thrown = next((line for line in told if line.startswith(_THROWN)), None)
    if thrown is not None:
        return f"{failed}: {thrown.partition(': ')[2].rstrip('.!') or thrown}"
    if error and _NO_GATEWAY not in error:  # Java ran here, too
        return f"{failed}: {_first_of(error).rstrip('.!')}"
    why = (told or [error])[0].rstrip(".!")
    return f"{failed}: {why}; it needs Java 17 or newer{_JAVA}"


def _first_of(error: str) -> str:
    """Returns what an exception says first; of one that Java threw, what Java says."""
    first, *rest = [line.strip() for line in error.strip().splitlines()]
    return rest[0].lstrip(": ") if rest and first.startswith(_PY4J) else first
