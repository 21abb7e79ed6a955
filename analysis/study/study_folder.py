"""One study's folder: made, locked, cleaned of what a killed run left.

The lock is the kernel's (``flock``): it goes with the process, however that ends.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from analysis.study.unit_folder import TEMPORARY_PREFIX


class StudyFolderError(Exception):
    """The folder cannot be used; the message says why and what to do."""


@contextmanager
def locked_study_folder(folder: Path) -> Iterator[Path]:
    """Makes the folder if need be and holds it alone.

    Raises:
        StudyFolderError: if it cannot be written, is no folder, or another run holds it.
    """
    try:
        (folder / "units").mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise StudyFolderError(
            f"{folder}: cannot be written ({error.strerror}); choose another with --out"
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StudyFolderError(
                f"{folder}: another run is writing here; wait for it, or choose another with --out"
            ) from error
        _remove_leftovers(folder / "units")
        yield folder


def _remove_leftovers(units_dir: Path) -> None:
    for leftover in sorted(units_dir.glob(f"{TEMPORARY_PREFIX}*")):
        shutil.rmtree(leftover, ignore_errors=True)


def write_text_whole(path: Path, text: str) -> None:
    """Writes a file so that a reader sees the old one or the new one, never a part."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
