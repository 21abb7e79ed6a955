"""What the command line says: a command with its options, to be called."""

from __future__ import annotations

from importlib import import_module

from analysis.program import module


class CommandLine:
    """A command; a subclass is a frozen dataclass whose fields are the command's options.

    ``StatusCommand`` is called ``status``, and its code is ``status_command`` in the module of that
    name. It is imported when the command is called, so that ``--help`` and ``check`` stay quick.
    """

    __slots__ = ()

    def __call__(self) -> int:
        """Runs the command; returns the exit status."""
        name = f"{name_of(type(self))}_command"
        return int(getattr(import_module(module(f"analysis.cli.{name}")), name)(self))


def name_of(command: object) -> str:
    """Returns what a command is called: a class of options, or a function of a few."""
    return str(getattr(command, "__name__", "")).removesuffix("Command").lower()
