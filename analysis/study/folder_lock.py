"""Who holds a study's folder.

The lock is the kernel's (``flock``): it goes with the process, however that ends, so what a dead
process has left in the file blocks nothing. The file's text only names the process that holds it.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Final

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
