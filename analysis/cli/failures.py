"""How a command ends: its exit status, and the one message of a command that cannot go on."""

from __future__ import annotations

import re
from enum import IntEnum
from pathlib import Path

import typer

from analysis.program import command


class ExitStatus(IntEnum):
    """What the shell sees."""

    FINE = 0
    CLAIM_FAILED = 1
    BAD_INPUT = 2
    UNITS_FAILED = 3
    INTERRUPTED = 130


class CommandError(Exception):
    """A command cannot go on; the text is one message with place, cause and remedy."""

    def __init__(self, message: str, status: ExitStatus = ExitStatus.BAD_INPUT) -> None:
        super().__init__(message)
        self.status = status


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
