"""One study's folder: where it lies, made, held by one run, cleaned of what a killed run left.

The lock is the kernel's (``flock``): it goes with the process, however that ends, so what a dead
process has left in the file blocks nothing. The file's text only names the process that holds it.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import socket
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Final
from uuid import uuid4

from analysis.program import command
from analysis.study.unit_folder import TEMPORARY_PREFIX

_OF_A_STUDY: Final = ("scenario.yaml", "plan.json")
_NAME_ONE: Final = "name the folder of a study, such as results/quickstart"
_ANOTHER: Final = "choose another folder (--out; in Python, folder=)"


class StudyFolderError(Exception):
    """The folder cannot be used; the message says why and what to do."""


def runs_the_rest(folder: Path) -> str:
    """Returns the command that goes on with the study of a folder."""
    return command("run", folder / "scenario.yaml", "--out", folder)


def no_study(folder: Path, lacks: str) -> str:
    """Returns what is said of a path that is not a study's folder, since it ``lacks`` a file."""
    if folder.is_file():
        return f"{folder}: is a file; {_NAME_ONE}"
    if not folder.exists():
        return f"{folder}: no such folder; correct its name, or run a scenario into it"
    known = (folder / "scenario.yaml").is_file()
    remedy = f"{runs_the_rest(folder)} runs it" if known else _NAME_ONE
    return f"{folder}: is not a study folder (it has no {lacks}); {remedy}"


@contextmanager
def locked_study_folder(folder: Path) -> Iterator[Path]:
    """Makes the folder if need be and holds it alone.

    Raises:
        StudyFolderError: if it cannot be written, is no folder or inside another study, holds other
            things than a study, or another run holds it.
        OSError: as it comes from within, with the folder's name if it has none.
    """
    around = next((each for each in folder.absolute().parents if _is_study(each)), None)
    if around is not None and not _is_study(folder):
        raise StudyFolderError(f"{folder}: is inside a study, {around}; {_ANOTHER}")
    _refuse_other_things(folder)
    with ExitStack() as held:
        try:
            (folder / "units").mkdir(parents=True, exist_ok=True)
            held.enter_context(folder_lock(folder))
        except FolderHeldError as holder:
            raise StudyFolderError(
                f"{folder}: another run is writing here ({holder}); wait for it, or {_ANOTHER}"
            ) from holder
        except OSError as error:
            raise StudyFolderError(
                f"{folder}: cannot be written ({error.strerror}); {_ANOTHER}"
            ) from error
        remove_leftovers(folder / "units")
        try:
            yield folder
        except OSError as error:  # a full disk does not say where
            error.filename = error.filename or str(folder)
            raise


def _is_study(folder: Path) -> bool:
    return (folder / "scenario.yaml").is_file() and (folder / "units").is_dir()


def _refuse_other_things(folder: Path) -> None:
    """Refuses a folder in which a study's files would lie among others.

    A run that was killed before it wrote its scenario has left hidden files and ``units``.
    """
    if not folder.is_dir() or any((folder / name).is_file() for name in _OF_A_STUDY):
        return
    try:
        names = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    except OSError:
        return  # the folder that cannot be listed is refused when it is written to
    others = [name for name in names if name != "units"]
    if others:
        shown = others[0] + (f" and {len(others) - 1:,} more" if others[1:] else "")
        raise StudyFolderError(
            f"{folder}: is not a study's folder and not empty (it has {shown}); {_ANOTHER}, "
            "one that is empty or new"
        )


def remove_leftovers(units_dir: Path) -> None:
    """Removes what ended before it was whole; only for whoever holds the folder."""
    for leftover in sorted(units_dir.glob(f"{TEMPORARY_PREFIX}*")):
        shutil.rmtree(leftover, ignore_errors=True)


def write_text_whole(path: Path, text: str | Iterable[str]) -> None:
    """Writes a file so that a reader sees the old one or the new one, never a part.

    A text that is too long to be held is given in pieces.
    """
    with written_whole(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.writelines([text] if isinstance(text, str) else text)


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Gives a path to write to; what was written there then replaces the file, if all went well."""
    temporary = path.with_name(f".{path.name}.{uuid4().hex[:8]}")
    try:
        yield temporary
        temporary.replace(path)
    except OSError as error:  # a full disk does not say where
        error.filename = str(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)


RESULTS: Final = Path("results")
NO_CHECKS: Final = "run.checks=false"
LONGEST_WORDS: Final = 80


def study_folder(name: str, overrides: Sequence[str], seed: int | None = None) -> Path:
    """Returns ``results/<name>``, with what the command line changes: another question's folder.

    More replications extend a study; they make no other one.
    """
    seeds = [] if seed is None else [f"seed={seed}"]
    changes = [change for change in (*overrides, *seeds) if change != NO_CHECKS]
    if not changes:
        return RESULTS / name
    words = re.sub(r"[^\w.=+-]+", "-", "_".join(sorted(changes)))
    if len(words) > LONGEST_WORDS:
        words = hashlib.sha256(words.encode()).hexdigest()[:12]
    return RESULTS / f"{name}_{words}"


LOCK_FILE: Final = ".lock"
_TRIES: Final = 10
_BETWEEN_TRIES_S: Final = 0.05
"""``status`` holds the lock shared for a moment; a run that starts just then waits for it."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that writes into a folder."""

    pid: int
    host: str
    since: str
    """UTC, to the second."""

    def __str__(self) -> str:
        """Returns the words by which to find it."""
        return f"pid {self.pid} on {self.host}, since {self.since} UTC"


_UNKNOWN: Final = Holder(0, "an unknown host", "an unknown time")


class FolderHeldError(Exception):
    """Another process holds the folder; the message says which."""


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Holds a folder alone.

    Raises:
        FolderHeldError: if another process holds it.
        OSError: if the lock's file cannot be opened.
    """
    with (folder / LOCK_FILE).open("a+", encoding="utf-8") as file:
        if not _locked(file):
            raise FolderHeldError(str(_said(file) or _UNKNOWN))
        with contextlib.suppress(OSError):  # a full disk: the lock holds without its text
            os.ftruncate(file.fileno(), 0)
            since = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
            myself = Holder(os.getpid(), socket.gethostname(), since)
            os.write(file.fileno(), json.dumps(asdict(myself)).encode())
        yield


def lock_holder(folder: Path) -> Holder | None:
    """Returns who holds a folder now; None if nobody does, or nobody that can be named."""
    try:
        with (folder / LOCK_FILE).open(encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return _said(file) or _UNKNOWN
    except OSError:
        return None
    return None


def _locked(file: IO[str]) -> bool:
    for attempt in range(_TRIES):
        if attempt:
            time.sleep(_BETWEEN_TRIES_S)
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    return False


def _said(file: IO[str]) -> Holder | None:
    try:
        file.seek(0)
        return Holder(**json.load(file))
    except (OSError, ValueError, TypeError):
        return None
