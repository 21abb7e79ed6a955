"""Shell completion: the script that a shell sources, and what it asks this program for.

Typer's own classes answer the shell. The scripts are ours, since the program may be a file that
some Python is called with: they name that Python by its whole path, and answer for ``pessim``,
``run_sim.py`` and ``python run_sim.py``.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final

from analysis.program import IS_INSTALLED, NAME, SCRIPT

VARIABLE: Final = "_RUN_SIM_COMPLETE"
"""Set where a shell wants to know what may come next."""
_ARGUMENTS: Final = "_TYPER_COMPLETE_ARGS"

SHELLS: Final = ("bash", "zsh", "fish")
"""Those with a script, ``assets/completion.*``."""


def completion_script(shell: str) -> str:
    """Returns what a shell sources.

    Raises:
        OSError: if it is none of ``SHELLS``.
    """
    ours = ["-m", NAME] if IS_INSTALLED else [str(SCRIPT)]
    call = shlex.join([sys.executable, *ours])
    script = files(__package__).joinpath("assets", f"completion.{shell}").read_text("utf-8")
    return script.replace("@VARIABLE@", VARIABLE).replace("@CALL@", call)


def prepare(commands: Sequence[str], environment: MutableMapping[str, str] = os.environ) -> None:
    """Lets Typer's classes answer, and says what is left unsaid on a command line.

    Words before the program's name are dropped, and ``run`` is put before a file: as ``main``
    does it.

    Args:
        commands: names of all commands.
        environment: what the shell says of the line; changed in place.
    """
    from typer.completion import get_completion_inspect_parameters

    get_completion_inspect_parameters()  # registers Typer's classes on the way
    if "COMP_WORDS" in environment:
        words, place = environment["COMP_WORDS"].split("\n"), int(environment["COMP_CWORD"])
        words, place = _unbroken(words, place)
        words, place = _whole(words, place, commands)
        environment["COMP_WORDS"], environment["COMP_CWORD"] = shlex.join(words), str(place)
    elif _ARGUMENTS in environment:
        said = environment[_ARGUMENTS]
        words = said.split()
        place = len(words) - (not said[-1:].isspace())
        words, place = _whole(words, place, commands)
        environment[_ARGUMENTS] = " ".join(words) + (" " if place == len(words) else "")


def _unbroken(words: list[str], place: int) -> tuple[list[str], int]:
    """Returns a line's words as typed: bash takes ``a=b`` for three of them."""
    typed: list[str] = []
    joined = 0
    for number, word in enumerate(words):
        if typed and (word == "=" or words[number - 1] == "="):
            typed[-1] += word
            joined += number <= place
        else:
            typed.append(word)
    return typed, place - joined


def _whole(words: list[str], place: int, commands: Sequence[str]) -> tuple[list[str], int]:
    """Returns the words of a line from the program on, and which of them is being written."""
    if len(words) > 1 and words[1].rpartition("/")[2] == SCRIPT.name:
        words, place = words[1:], place - 1
    bare = place > 1 and words[1:2] and words[1] not in commands and words[1][:1] != "-"
    if bare:
        words, place = [words[0], "run", *words[1:]], place + 1
    return words, place


def scenario_files(incomplete: str) -> list[str]:
    """Returns scenario files, and folders on the way to some."""
    return [name for name in _below(incomplete) if name.endswith(("/", ".yaml", ".yml"))]


def study_folders(incomplete: str) -> list[str]:
    """Returns study folders, and folders on the way to some; at first those under ``results``."""
    below = _below(incomplete or "results/") or _below(incomplete)
    folders = [name for name in below if name.endswith("/")]
    return [
        name.rstrip("/") if (Path(name) / "scenario.yaml").is_file() else name for name in folders
    ]


def words(*known: str) -> Callable[[str], list[str]]:
    """Returns a completion of a few words."""
    return lambda incomplete: [word for word in known if word.startswith(incomplete)]


def machines(incomplete: str) -> list[str]:
    """Returns names of machines."""
    from sim.scenario.profiles import profiles

    return [name for name in profiles("machines") if name.startswith(incomplete)]


def settings(incomplete: str) -> list[str]:
    """Returns keys of a scenario with a ``=`` behind, for ``--set``; behind it, values."""
    from analysis.study.json_schema import dotted_keys

    found = dotted_keys()
    key, said, _ = incomplete.partition("=")
    if said:
        values = _values([child for name, child in found if name == key])
        return [text for value in values if (text := f"{key}={value}").startswith(incomplete)]
    keys = {name for name, _ in found}
    sections = {key.rpartition(".")[0] for key in keys}
    return [f"{key}=" for key in sorted(keys - sections) if key.startswith(incomplete)]


def _values(forms: Sequence[Mapping[str, object]]) -> list[str]:
    """Returns the words that a key may have; none if it is a number, a name or a quantity."""
    if any(form.get("type") == "boolean" for form in forms):
        return ["false", "true"]
    lists = (form.get("enum", [form["const"]] if "const" in form else []) for form in forms)
    return sorted({str(word) for words in lists if isinstance(words, list) for word in words})


def _below(incomplete: str) -> list[str]:
    """Returns names in a folder that begin as the last part of a path; folders end in ``/``."""
    folder, slash, start = incomplete.rpartition("/")
    place = Path(folder + slash or ".").expanduser()
    try:
        entries = sorted(place.iterdir())
    except OSError:
        return []
    return [
        f"{folder}{slash}{entry.name}{'/' if entry.is_dir() else ''}"
        for entry in entries
        if entry.name.startswith(start) and not entry.name.startswith((".", "__"))
    ]
