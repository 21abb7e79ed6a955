"""What commands print: words for people, or with ``--json`` one document.

Words go through rich on a terminal, as plain lines of 100 columns elsewhere; NO_COLOR is kept. With
``--json`` standard output holds the document and nothing else, and words go to standard error.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, TextIO

from rich.console import Console

from analysis.terminal.streams import output_named, reader_is_gone

PLAIN_WIDTH: Final = 100
LEAST_WIDTH: Final = 60
"""Of results: on a narrower terminal it wraps them, which is better than numbers cut short."""

_aside: ContextVar[bool] = ContextVar("words_aside", default=False)


class _Console(Console):
    """A console that leaves it to the command what becomes of it when its reader has gone."""

    def on_broken_pipe(self) -> None:
        """Goes on in silence if the command wants to; rich would exit."""
        reader_is_gone(self.file.fileno())

    def _write_buffer(self) -> None:
        with output_named():
            super()._write_buffer()


@contextmanager
def words_aside(*, when: bool) -> Iterator[None]:
    """Sends what is for ``output`` to standard error meanwhile, if so wished."""
    before = _aside.set(when or _aside.get())
    try:
        yield
    finally:
        _aside.reset(before)


def output() -> Console:
    """Returns the console for results, on standard output."""
    return _console(stderr=_aside.get(), least=LEAST_WIDTH)


def messages() -> Console:
    """Returns the console for progress and problems, on standard error."""
    return _console(stderr=True, least=1)


def _console(*, stderr: bool, least: int) -> Console:
    width = max(_width(sys.stderr if stderr else sys.stdout), least)
    return _Console(stderr=stderr, width=width, highlight=False, soft_wrap=False, emoji=False)


def _width(stream: TextIO) -> int:
    """Returns ``COLUMNS``, or what a terminal says, unless they are 0 or no number."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return int(said)
    try:
        return os.get_terminal_size(stream.fileno()).columns or PLAIN_WIDTH
    except (OSError, ValueError, AttributeError):  # no terminal
        return PLAIN_WIDTH


@contextmanager
def phase(text: str) -> Iterator[None]:
    """Says what is being done: on a terminal as long as it lasts, elsewhere in a line."""
    told = messages()
    if told.is_terminal:
        with told.status(text):
            yield
    else:
        say(told, text)
        yield


def say(console: Console, text: str, style: str = "") -> None:
    """Prints a line as it is: not wrapped, not searched for markup."""
    console.print(text, style=style or None, markup=False, soft_wrap=True)


def print_json(document: Mapping[str, Any]) -> None:
    """Prints a document, indented, keys in their order; NaN and infinities become null."""
    with output_named():
        sys.stdout.write(json.dumps(_plain(document), indent=1, allow_nan=False) + "\n")


def _plain(value: Any) -> Any:
    """Returns a value with null for what is not a number, also deep inside."""
    match value:
        case float() if not math.isfinite(value):
            return None
        case Mapping():
            return {str(key): _plain(of) for key, of in value.items()}
        case list() | tuple():
            return [_plain(of) for of in value]
        case _:
            return value
