"""How a command ends: its exit status, and the one message of a command that cannot go on."""

from __future__ import annotations

import re
from enum import IntEnum
from pathlib import Path
from tempfile import NamedTemporaryFile
from traceback import format_exception
from typing import Final

import typer

from analysis.program import command

_LONGEST_WHAT: Final = 200


class ExitStatus(IntEnum):
    """What the shell sees."""

    FINE = 0
    CLAIM_FAILED = 1
    BAD_INPUT = 2
    UNITS_FAILED = 3
    FAULT = 70
    """Of Pessim's own: ``EX_SOFTWARE`` of BSD's sysexits.h."""
    INTERRUPTED = 130


class CommandError(Exception):
    """A command cannot go on; the text is one message with place, cause and remedy."""

    def __init__(self, message: str, status: ExitStatus = ExitStatus.BAD_INPUT) -> None:
        super().__init__(message)
        self.status = status


class ToldInterrupt(KeyboardInterrupt):
    """An interruption of which everything has been said."""


def fault(error: Exception) -> CommandError:
    """Returns what is said of an error that nobody expected; its traceback goes to a file."""
    lines = format_exception(error)
    what = lines[-1].strip().splitlines()[0][:_LONGEST_WHAT]
    try:
        with NamedTemporaryFile(
            "w", prefix="pessim-fault-", suffix=".txt", delete=False, encoding="utf-8"
        ) as file:
            file.writelines(lines)
        where = f"please report it with {file.name}"
    except OSError as unwritten:
        where = f"its traceback cannot be written ({unwritten.strerror})"
    return CommandError(
        f"a fault of Pessim's, not of your input: {what}; {where}", ExitStatus.FAULT
    )


def command_error(error: Exception) -> CommandError | None:
    """Returns what is said of an error about what a user has given; None for any other."""
    from analysis.calibration.refusal import CalibrationError
    from analysis.study.study_folder import StudyFolderError
    from sim.scenario import ScenarioError

    match error:
        case CommandError():
            return error
        case CalibrationError() | StudyFolderError() | ScenarioError():
            return CommandError(str(error))
        case typer.TyperException():
            wrong = error.format_message().removeprefix("Invalid value: ")
            wrong = re.sub(r"Value error, (.*) is not one of (.*)", _other_word, wrong).rstrip(".")
            wrong = re.sub(r"Input should be ([^,]*).*", r"must be \1", wrong)
            return CommandError(f"{wrong}. Try: {command(*_help_of(error))}")
        case OSError(filename=str() | Path() as where):
            return CommandError(f"{where}: {error.strerror}; nothing was written there")
        case _:
            return None


def _help_of(error: typer.TyperException) -> list[str]:
    """Returns the option, after the name of the command that was wrongly given, if there is one."""
    words = ["--help"]
    context = getattr(error, "ctx", None)
    while context is not None and context.parent is not None:
        words.insert(0, context.info_name)
        context = context.parent
    return words


def _other_word(found: re.Match[str]) -> str:
    """Returns what typer says of a word that is none of a few, with what to write."""
    *words, last = found[2].replace("'", "").rstrip(".").split(", ")
    return f"{found[1]} cannot be used; write {', '.join(words)}{' or ' if words else ''}{last}"
