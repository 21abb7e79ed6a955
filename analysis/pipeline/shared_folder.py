"""Whether executors on other machines see the study's folder, asked before the first unit.

Each of a few tasks looks for a file that the driver wrote and writes one that the driver looks for:
a folder of the same name on another disk would pass only one of the two.
"""

from __future__ import annotations

import shutil
import socket
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from analysis.pipeline.job_failure import SparkJobError, why_job_failed
from analysis.study.study_folder import StudyFolderError

if TYPE_CHECKING:
    from pyspark import SparkContext

SEEN_WITHIN_S: Final = 10.0
LEAST_TASKS: Final = 2
MOST_TASKS: Final = 64


def check_shared_folder(spark: SparkContext, units_dir: Path) -> None:
    """Lets executors look for the folder of units.

    Raises:
        StudyFolderError: if one does not see it, or cannot write into it.
        SparkJobError: if no task can be run there.
    """
    probe = units_dir / f".probe-{uuid4().hex[:8]}"
    probe.mkdir()
    try:
        answers = _ask(spark, probe)
        unseen = [host for host, answer in answers if not _arrived(probe / answer)]
    finally:
        shutil.rmtree(probe, ignore_errors=True)
    if unseen:
        raise StudyFolderError(
            f"{units_dir.parent}: executors on {', '.join(sorted(set(unseen)))} do not see it or "
            "cannot write into it; name a folder with --out that all machines share under the "
            "same path"
        )


def _ask(spark: SparkContext, probe: Path) -> list[tuple[str, str]]:
    """Returns, for some tasks, their host and the name of the file they wrote; empty: none."""
    context = spark
    tasks = min(MOST_TASKS, max(LEAST_TASKS, context.defaultParallelism))
    folder = str(probe)

    def answer(numbers: Iterable[int]) -> Iterable[tuple[str, str]]:
        for number in numbers:
            yield socket.gethostname(), answer_probe(Path(folder), f"{number}")

    try:
        return context.parallelize(range(tasks), tasks).mapPartitions(answer).collect()
    except Exception as error:
        raise SparkJobError(
            f"Spark could not run a first task on its executors: {why_job_failed(str(error))}"
        ) from error


def answer_probe(probe: Path, name: str) -> str:
    """Returns the file that an executor wrote beside the driver's; an impossible name if none."""
    try:
        if probe.is_dir():
            (probe / name).touch()
            return name
    except OSError:
        pass
    return "unseen"


def _arrived(answer: Path) -> bool:
    """Whether the driver sees a file, which a shared file system may show only after a while."""
    if answer.name == "unseen":
        return False
    until_s = time.perf_counter() + SEEN_WITHIN_S
    while not answer.exists() and time.perf_counter() < until_s:
        time.sleep(0.1)
    return answer.exists()
