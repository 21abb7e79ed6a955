"""What is wrong with a script, where, and how to mend it.

Law: one line a problem, ``file:line: what; how to mend``. A problem is the script's author's, never
the model's: what the model answers, refusals included, is output.
"""

from __future__ import annotations


class ScriptProblem(Exception):
    """A command cannot be understood or carried out; ``line`` counts from 1, 0: the whole file."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line

    def at(self, line: int) -> ScriptProblem:
        """Returns this problem with its line, if it has none yet."""
        return self if self.line else ScriptProblem(self.message, line)

    def in_file(self, name: str) -> str:
        """Returns the line a user reads."""
        return f"{name}:{self.line}: {self.message}" if self.line else f"{name}: {self.message}"
