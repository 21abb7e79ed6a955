"""A unit on an executor that does not see the study's folder: its facts go into an object store.

It is simulated into a folder of the executor's own. An empty file in the store says meanwhile that
it is being simulated; one that is left behind is an attempt whose process died.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from analysis.pipeline.object_store import ObjectStore
from analysis.pipeline.unit_task import Attempt, UnitJob, run_unit_task
from analysis.study.unit_folder import TEMPORARY_PREFIX, UnitNotWrittenError


def run_unit_into_store(
    store: ObjectStore, job: UnitJob, attempt: Attempt, *, again: bool, most_deaths: int
) -> bool:
    """Runs one unit and puts its folder, or the file that says why it failed, into the store.

    Args:
        store: of the study.
        job: the study; its folder is the driver's, and is not touched.
        attempt: which unit.
        again: whether an earlier attempt of this run may have left something.
        most_deaths: so many attempts that died are enough.

    Returns:
        False if its process died too often before.

    Raises:
        UnitNotWrittenError: if the store cannot be read or written.
    """
    name = attempt.unit.unit_hash
    mark = f"units/{TEMPORARY_PREFIX}{name}-{uuid4().hex[:8]}"
    try:
        if again:
            there = store.unit_names()
            if name in there:
                return True
            if sum(each.startswith(f"{TEMPORARY_PREFIX}{name}-") for each in there) >= most_deaths:
                return False
        store.write(mark, b"")
        try:
            _run(store, job, attempt)
        finally:
            with suppress(OSError):
                store.remove(mark)
    except UnitNotWrittenError:
        raise
    except OSError as error:
        raise UnitNotWrittenError(error.errno, error.strerror, error.filename) from error
    return True


def _run(store: ObjectStore, job: UnitJob, attempt: Attempt) -> None:
    with TemporaryDirectory(prefix="pessim-unit-") as own:
        run_unit_task(replace(job, units_dir=own, store=None), attempt)
        for path in Path(own).iterdir():
            if path.is_dir():
                store.write_unit(path)
            else:
                store.write(f"units/{path.name}", path.read_bytes())
