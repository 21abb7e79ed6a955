"""Whether executors see the study's folder, or its object store, asked before the first unit.

Each of a few tasks looks for a file that the driver wrote and writes one that the driver looks for:
a folder of the same name on another disk would pass only one of the two.
"""

from __future__ import annotations

import shutil
import socket
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from analysis.pipeline.forked import call_in_fork
from analysis.pipeline.object_store import ObjectStore, reason
from analysis.pipeline.spark_jobs import SparkJobError, why_job_failed
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
        answers = _ask(spark, partial(answer_probe, probe))
        unseen = [host for host, answer in answers if not _arrived(probe / answer)]
    finally:
        shutil.rmtree(probe, ignore_errors=True)
    if unseen:
        raise StudyFolderError(
            f"{units_dir.parent}: executors on {', '.join(sorted(set(unseen)))} do not see it or "
            "cannot write into it; name a folder with --out that all machines share under the "
            "same path"
        )


def check_store(spark: SparkContext, store: ObjectStore) -> None:
    """Lets executors write into an object store.

    Raises:
        StudyFolderError: if one cannot.
        SparkJobError: if no task can be run there.
    """
    refusals = [(host, why) for host, why in _ask(spark, partial(answer_from_store, store)) if why]
    if refusals:
        host, why = refusals[0]
        raise StudyFolderError(f"{store}: executors on {host} cannot use it: {why}")


def _ask(spark: SparkContext, ask: Callable[[str], str]) -> list[tuple[str, str]]:
    """Returns, for some tasks, their host and what they answer to a name of their own."""
    tasks = min(MOST_TASKS, max(LEAST_TASKS, spark.defaultParallelism))

    def answer(numbers: Iterable[int]) -> Iterable[tuple[str, str]]:
        for number in numbers:
            yield socket.gethostname(), ask(f"{number}")

    try:
        return spark.parallelize(range(tasks), tasks).mapPartitions(answer).collect()
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


def answer_from_store(store: ObjectStore, name: str) -> str:
    """Returns why an executor cannot write into a store; empty if it can."""
    return call_in_fork(partial(_refusal, store, f".probe-{uuid4().hex[:8]}-{name}"))


def _refusal(store: ObjectStore, probe: str) -> str:
    try:
        store.write(probe, b"")
        store.remove(probe)
    except (OSError, ValueError) as error:
        return str(getattr(error, "strerror", "") or reason(error))
    return ""


def _arrived(answer: Path) -> bool:
    """Whether the driver sees a file, which a shared file system may show only after a while."""
    if answer.name == "unseen":
        return False
    until_s = time.perf_counter() + SEEN_WITHIN_S
    while not answer.exists() and time.perf_counter() < until_s:
        time.sleep(0.1)
    return answer.exists()
