"""The command line: every command under its name. A bare file name means ``run``."""

from __future__ import annotations

import io
import os
import signal
import sys
from difflib import get_close_matches
from pathlib import Path
from types import FrameType
from typing import Annotated, Final

import typer

from analysis.cli import completion, measurement_app, model_app, scenario_app, study_app
from analysis.cli.failures import ExitStatus, ToldInterrupt, command_error, fault
from analysis.cli.options import name_of
from analysis.program import called
from analysis.terminal.console import messages, output, say
from analysis.terminal.streams import (
    flushed_or_to_nothing,
    open_closed_streams,
    output_named,
    to_nothing,
)

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="What do pipelined and in-memory pessimistic locks do to a TiKV cluster? "
    f"Example: {called()} run pessim:quickstart",
)
for _command, _example in (
    *study_app.COMMANDS,
    *scenario_app.COMMANDS,
    *measurement_app.COMMANDS,
    *model_app.COMMANDS,
):
    app.command(name_of(_command), epilog=f"Example: {_example.format(program=called())}")(_command)


@app.callback(invoke_without_command=True)
def about(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version, and how local workers run the model."),
    ] = False,
) -> None:
    """Says what this is."""
    if version:
        from analysis.pipeline.compiled_model import model_words
        from analysis.report.manifest import commit
        from pessim import __version__

        made_of = f"commit {commit() or 'unknown'}, model {model_words('local')}"
        say(output(), f"pessim {__version__}, {made_of}")
        raise typer.Exit


def main(arguments: list[str] | None = None) -> int:
    """Runs a command and returns the exit status."""
    signal.signal(signal.SIGTERM, _interrupt)
    open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        if completion.VARIABLE in os.environ:
            completion.prepare(_known_commands())
        words = with_default_command(sys.argv[1:] if arguments is None else arguments)
        words = with_an_option_a_file(words)
        result = app(
            words,
            prog_name=called(),
            complete_var=completion.VARIABLE,
            standalone_mode=False,
        )
        status = result() if callable(result) else result
        with output_named():
            sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort) as interruption:
        if not isinstance(interruption, ToldInterrupt):
            say(messages(), "interrupted")
        return ExitStatus.INTERRUPTED
    except BrokenPipeError:
        # The reader has closed the pipe: what is left in the buffer would raise an error at exit.
        to_nothing(sys.stdout.fileno())
        return ExitStatus.FINE
    except Exception as error:
        return _told(error)
    return int(status or 0)


def _told(error: Exception) -> int:
    """Says why a command cannot go on, also where it is to blame itself; returns the status."""
    told = command_error(error) or fault(error)
    say(messages(), str(told))
    flushed_or_to_nothing()
    return told.status


def with_default_command(words: list[str]) -> list[str]:
    """Puts ``run`` before a first word that is no command and no option; no words ask for help.

    Raises:
        typer.BadParameter: if the first word looks like a command misspelt.
    """
    if not words:
        return ["--help"]
    known = _known_commands()
    if words[0].startswith("-") or words[0] in known:
        return words
    meant = get_close_matches(words[0], known, n=1)
    if meant and not Path(words[0]).exists():
        raise typer.BadParameter(f"no command {words[0]!r}; did you mean {meant[0]}")
    return ["run", *words]


_OF_FILES: Final = {"init": ("--fio", "--ping", "--sockperf", "--iperf3", "--tikv", "--prometheus")}
"""By command: options that take as many files as follow, as a shell writes them for ``*``."""


def with_an_option_a_file(words: list[str]) -> list[str]:
    """Returns the words with ``--fio a b`` written as ``--fio a --fio b``."""
    several = _OF_FILES.get(words[0], ())
    spread: list[str] = []
    option = ""
    for place, word in enumerate(words):
        if word.startswith("-"):
            option = word
        elif option in several and words[place - 1] != option:
            spread.append(option)
        spread.append(word)
    return spread


def _known_commands() -> list[str]:
    return [str(command.name) for command in app.registered_commands]


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    """A termination is an interruption: what is done is kept."""
    raise KeyboardInterrupt
