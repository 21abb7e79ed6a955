"""Units over the cluster: one unit is one Spark task, so a lost executor costs only those it ran.

The job runs in a thread; the caller's thread watches the folder, which keeps Ctrl-C
quick and tells a failure as soon as its file is there.

A unit whose process dies never breaks the job: Spark tries it again, its next attempts see what the
dead ones have left in the folder, and after the third they give up. When all others have ended it
is tried once more, alone, since it may have died of its neighbours' memory or with their executor.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from analysis.pipeline.forked import call_in_fork
from analysis.pipeline.session import ATTEMPTS
from analysis.pipeline.shared_folder import check_shared_folder, check_store
from analysis.pipeline.spark_jobs import SparkJobError, not_written, why_job_failed
from analysis.pipeline.spark_master import is_local
from analysis.pipeline.store_copy import StoreCopy
from analysis.pipeline.unit_task import (
    Attempt,
    UnitJob,
    run_unit_into_store,
    run_unit_task,
    settle_process,
    unit_failure,
)
from analysis.study.ledger import Ledger, Scan, read_failure, read_ledger, scan, write_failure
from analysis.study.study_folder import remove_leftovers
from analysis.study.unit_folder import (
    TEMPORARY_PREFIX,
    check_room,
    failure_path,
    read_unit,
    unfinished_attempts,
)
from analysis.study.units import Point, Unit

if TYPE_CHECKING:
    from pyspark import SparkContext

JOB_GROUP: Final = "pessim-units"
POLL_S: Final = 0.25
POLL_SHARE: Final = 0.05
"""At most this share of the driver's time goes into looking at the folder."""
SHOWN_WITHIN_S: Final = 60.0
"""A shared file system may take this long to show what another machine has written."""
MOST_ALONE: Final = 5
"""When so many units in a row die alone, the rest of those that died are not tried alone."""


@dataclass(frozen=True, slots=True)
class Work:
    """What is sent to every executor once."""

    job: UnitJob
    attempts: Sequence[Attempt]
    """The next one at each unit."""


def run_units(
    spark: SparkContext,
    job: UnitJob,
    points: Sequence[Point],
    units: Sequence[Unit],
    watch: Watch,
) -> Ledger:
    """Runs every unit into its folder, or into a file that says why it failed; returns how it went.

    Whatever bears the units' names is removed. The watch follows the units, and may stop them: what
    was not run is missing.

    Raises:
        OSError: if the folder cannot be written: a full disk, most often.
        StudyFolderError: if executors do not see the folder.
        SparkJobError: if Spark gave up for another reason.
    """
    if not units:
        return Ledger({}, {}, [])
    units_dir = Path(job.units_dir)
    copy = None if job.store is None else StoreCopy(job.store, units_dir)
    if not is_local(str(spark.master)):
        if job.store is None:
            check_shared_folder(spark, units_dir)
        else:
            check_store(spark, job.store)
    before = _cleared(units_dir, units)
    if copy is not None:
        copy.forget(unit.unit_hash for unit in units)
    attempts = [
        Attempt(unit, points[unit.point_index], before.get(unit.unit_hash, 0)) for unit in units
    ]
    run = _UnitRun(spark, Work(job, attempts), watch, copy)
    run.run_alone(run.run_together(range(len(units)), ATTEMPTS))
    remove_leftovers(units_dir)
    if copy is not None:
        copy.forget_attempts()
    return read_ledger(units_dir, units, job.model)


def _cleared(units_dir: Path, units: Iterable[Unit]) -> dict[str, int]:
    """Removes what bears the units' names; returns how often those that failed were tried."""
    seen, before = scan(units_dir), {}
    for name in (unit.unit_hash for unit in units):
        if name in seen.done:
            shutil.rmtree(units_dir / name, ignore_errors=True)
        failure = read_failure(units_dir, name) if name in seen.failed else None
        if failure is not None:
            before[name] = failure.attempts
        if name in seen.failed | seen.done:
            failure_path(units_dir, name).unlink(missing_ok=True)
    return before


class _UnitRun:
    """One list of units on its way through Spark."""

    def __init__(
        self, spark: SparkContext, work: Work, watch: Watch, copy: StoreCopy | None
    ) -> None:
        self._spark = spark
        self._work = work
        self._watch = watch
        self._copy = copy
        self._units_dir = Path(work.job.units_dir)
        self._by_hash = {each.unit.unit_hash: each.unit for each in work.attempts}
        self._failed: set[str] = set()
        self._poll_s = POLL_S
        self._shipped = spark.broadcast(work)

    def run_together(self, indices: Sequence[int], most_deaths: int) -> list[int]:
        """Runs units as one job; returns those that were given up since their process died."""
        results: list[dict[int, bool]] = []
        errors: list[BaseException] = []

        def collect() -> None:
            try:
                results.append(self._collect(indices, most_deaths))
            except BaseException as error:  # raised below, by the thread that watches
                errors.append(error)

        thread = threading.Thread(target=collect, name="spark-units", daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(self._poll_s)
            self._look()
            if self._watch.wants_stop:
                self._spark.cancelJobGroup(JOB_GROUP)
        self._look()
        if errors and not self._watch.wants_stop:
            raise _cause(str(errors[0])) from errors[0]
        ended = results[0] if results else {}
        self._await_sight([index for index in ended if ended[index]])
        return [index for index in ended if not ended[index]]

    def run_alone(self, died: Iterable[int]) -> None:
        """Runs units that died once more, each without neighbours; what dies again has failed."""
        in_a_row = 0
        for index in died:
            if self._watch.wants_stop:
                return
            deaths, alone = ATTEMPTS, ""
            unit_hash = self._work.attempts[index].unit.unit_hash
            if in_a_row < MOST_ALONE:
                for leftover in self._units_dir.glob(f"{TEMPORARY_PREFIX}{unit_hash}-*"):
                    shutil.rmtree(leftover, ignore_errors=True)
                if self._copy is not None:
                    self._copy.forget_attempts()
                if not self.run_together([index], 1):
                    in_a_row = 0
                    continue
                deaths, alone = deaths + 1, ", the last time alone"
            in_a_row += 1
            self._leave_death(index, deaths, alone)

    def _leave_death(self, index: int, deaths: int, alone: str) -> None:
        error = (
            f"its Python process ended unexpectedly {deaths} times{alone}, as when the machine "
            "runs out of memory"
        )
        failure = unit_failure(self._work.job, self._work.attempts[index], error, attempts=deaths)
        write_failure(self._units_dir, failure)
        self._look()

    def _collect(self, indices: Sequence[int], most_deaths: int) -> dict[int, bool]:
        """Returns for every unit whether it has ended; False: its process died too often."""
        self._spark.setJobGroup(JOB_GROUP, "units", interruptOnCancel=True)
        tasks = self._spark.parallelize(indices, len(indices))
        return dict(tasks.map(unit_runner(self._shipped, most_deaths)).collect())

    def _look(self) -> Scan:
        """Tells the watch what the folder says; the larger the folder, the rarer."""
        if self._copy is not None:
            self._copy.pull()
        begun_s = time.perf_counter()
        seen = scan(self._units_dir)
        for unit_hash in sorted(self._by_hash.keys() & seen.failed - self._failed):
            failure = read_failure(self._units_dir, unit_hash)
            if failure is not None:
                self._failed.add(unit_hash)
                self._watch.failed(self._by_hash[unit_hash], failure.error)
        self._watch.finished(len(self._by_hash.keys() & (seen.done | seen.failed)))
        self._poll_s = max(POLL_S, (time.perf_counter() - begun_s) / POLL_SHARE)
        return seen

    def _await_sight(self, indices: Iterable[int]) -> None:
        """Waits until the folder shows what has ended."""
        names = {self._work.attempts[index].unit.unit_hash for index in indices}
        until_s = time.perf_counter() + SHOWN_WITHIN_S
        seen = self._look()
        while names - seen.done - seen.failed and time.perf_counter() < until_s:
            time.sleep(self._poll_s)
            seen = self._look()


def _cause(text: str) -> Exception:
    return not_written(text) or SparkJobError(
        f"Spark gave up: {why_job_failed(text)}; units that are done are kept, the same command "
        "continues"
    )


def unit_runner(shipped: Any, most_deaths: int) -> Callable[[int], tuple[int, bool]]:
    """Returns what an executor does with the index of a unit; it holds nothing but a broadcast."""

    def run_unit(index: int) -> tuple[int, bool]:
        work: Work = shipped.value
        settle_process()
        return index, run_index(work, index, most_deaths)

    return run_unit


def run_index(work: Work, index: int, most_deaths: int) -> bool:
    """Runs one unit on an executor; returns False if its process died too often before.

    An attempt that died has left the folder it wrote into; one whose result was lost with its
    executor has left a whole unit. On a full disk, only the first attempt simulates.
    """
    from pyspark import TaskContext

    context = TaskContext.get()
    again = context is not None and context.attemptNumber() > 0
    job, attempt = work.job, work.attempts[index]
    if job.store is not None:
        into_store = partial(run_unit_into_store, again=again, most_deaths=most_deaths)
        return call_in_fork(partial(into_store, job.store, job, attempt))
    if again:
        units_dir, unit_hash = Path(job.units_dir), attempt.unit.unit_hash
        if read_unit(units_dir / unit_hash) is not None:
            return True
        if unfinished_attempts(units_dir, unit_hash) >= most_deaths:
            return False
        check_room(units_dir)
    call_in_fork(partial(run_unit_task, job, attempt))
    return True


class Watch:
    """Hears of units while they run; this one does nothing."""

    def finished(self, done: int) -> None:
        """Takes the number of units that have ended, at every look."""

    def failed(self, unit: Unit, error: str) -> None:
        """Takes a failure, once, as soon as it is known."""

    @property
    def wants_stop(self) -> bool:
        """Whether running units are to be broken off, and no more begun."""
        return False
