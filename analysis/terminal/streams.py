"""Standard output that is closed, full or no longer read: what to do, and who is to blame."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_finishes: ContextVar[bool] = ContextVar("finishes_unread", default=False)


def open_closed_streams() -> None:
    """Opens those of the three streams that are closed, to nothing.

    Otherwise the next file to be opened would be taken for standard output.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", closefd=False)


@contextmanager
def finished_unread() -> Iterator[None]:
    """Lets a command finish its files when nobody reads what it prints, as after ``| head``."""
    before = _finishes.set(True)
    try:
        yield
    finally:
        _finishes.reset(before)


def to_nothing(descriptor: int) -> None:
    """Sends what is written to a file from now on, and what is in its buffer, to nothing."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, descriptor)
    os.close(nothing)


def reader_is_gone(descriptor: int) -> None:
    """Goes on without the reader, or raises the error that is being handled."""
    if not _finishes.get():
        raise  # noqa: PLE0704 - called from an except clause
    to_nothing(descriptor)


@contextmanager
def output_named() -> Iterator[None]:
    """Gives an error in writing standard output, such as a full disk, the name of its file."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        error.filename = error.filename or "standard output"
        raise


def flushed_or_to_nothing() -> None:
    """Writes what is left; what cannot be written would raise another error at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        to_nothing(sys.stdout.fileno())
