"""Tests written as text: command lines, ``----``, what they print, a blank line.

``#`` lines between blocks are prose. With ``--rewrite`` the expectation becomes what was printed;
read the difference before committing it. The idea is cockroachdb/datadriven's.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

TESTDATA = Path(__file__).parent / "testdata"


class Command(NamedTuple):
    """One command line: ``name word word option=value``."""

    name: str
    words: list[str]
    options: dict[str, str]

    def number(self, option: str, default: int = 0) -> int:
        """Returns an option that is a whole number."""
        return int(self.options.get(option, default))


Execute = Callable[[Command], str]


def files(folder: str) -> list[Path]:
    """Returns the test files of a folder under tests/testdata."""
    return sorted((TESTDATA / folder).glob("*.txt"))


def run(path: Path, execute: Execute, *, rewrite: bool) -> None:
    """Runs a file's commands and compares, or rewrites, what they print."""
    written = path.read_text()
    printed = "\n\n".join(_blocks(written, execute)) + "\n"
    if rewrite:
        path.write_text(printed)
    else:
        assert printed == written, f"{path.name}: not as expected; --rewrite takes what is printed"


def parse(line: str) -> Command:
    """Returns the command of one line."""
    name, *rest = line.split()
    options = dict(word.split("=", 1) for word in rest if "=" in word)
    return Command(name, [word for word in rest if "=" not in word], options)


def _blocks(text: str, execute: Execute) -> Iterator[str]:
    """Yields the text of the file, with what the commands print in place of what is expected."""
    for block in text.rstrip("\n").split("\n\n"):
        head, separator, _ = block.partition("\n----")
        lines = [line for line in head.splitlines() if line and not line.startswith("#")]
        printed = [execute(parse(line)) for line in lines]
        if not separator and not lines:
            yield block
        else:
            yield "\n".join([head, "----", *filter(None, printed)])
