"""The studies of one folder: which there are, what each says in a few words, and their files.

Law: nothing outside the folder is read. A study's name is one that the folder has, neither a
study's folder nor a file of it may be a link, and a file is read only up to a length.

What there is, is read off one listing. Only heads that are shown are opened, and none a second time
before its folder has changed; a search opens all of them once.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from analysis.study.study_folder import StudyFolderError, lock_holder
from analysis.study.study_outcome import ANSWER, StudyOutcome, sentences
from analysis.study.units import PLAN_FILE, AskedUnits, read_plan
from sim.units import KIB, MIB

PAGE_STUDIES: Final = 50
_LONGEST_HEAD_BYTES: Final = 64 * KIB
_LONGEST_TEXT: Final = 2_000
_ABOUT: Final = re.compile(r"^about:.*(\n([ \t].*)?)*", re.MULTILINE)
"""The key of a scenario with all that is indented below it."""
LONGEST_RECORD_BYTES: Final = MIB
"""Of a unit."""
LONGEST_FACTS_BYTES: Final = 64 * MIB
"""Of one of its tables: what is longer is not read."""


class NoStudyError(Exception):
    """There is no such study, or no such file of it; the message says which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What the index shows of a study. All text may have been written by somebody else."""

    name: str
    """Its folder's."""
    question: str
    answer: str
    outcome: str
    """A ``StudyOutcome``, or ``unfinished``."""
    written_s: float
    """When its folder was last written to, seconds since 1970."""

    def has(self, words: list[str]) -> bool:
        """Returns whether every word is somewhere in it; words are in lower case."""
        text = f"{self.name} {self.question} {self.answer} {self.outcome}".lower()
        return all(word in text for word in words)


class Studies:
    """The studies in a folder."""

    def __init__(self, results: Path) -> None:
        """Takes the folder, which need not exist yet."""
        self.results = results.resolve()
        self._heads: dict[str, tuple[int, Head | None]] = {}
        """By name, with when the folder had last been written to."""

    def folder(self, name: str) -> Path:
        """Returns a study's folder.

        Raises:
            NoStudyError: if the folder has no such study of its own.
        """
        path = self.results / name
        try:
            inside = path.parent == self.results and name not in {"", ".", ".."}
            if inside and stat.S_ISDIR(path.lstat().st_mode):
                return path
        except (OSError, ValueError):
            pass
        raise NoStudyError(f"there is no study {name}")

    def read(self, name: str, file: str, most_bytes: int) -> bytes:
        """Returns a file of a study.

        Args:
            name: of the study.
            file: path below its folder.
            most_bytes: what is longer is refused.

        Raises:
            NoStudyError: if there is none, it is no plain file of the study's, or too long.
        """
        path = self.file(name, file)
        try:
            return _read_plain(path, most_bytes)
        except OSError as error:
            raise NoStudyError(f"{name} has no {file} that can be shown") from error

    def file(self, name: str, file: str) -> Path:
        """Returns the path of a plain file of a study.

        Args:
            name: of the study.
            file: path below its folder.

        Raises:
            NoStudyError: if there is none, or a link leads to it.
        """
        path = self.folder(name) / file
        try:
            if path.resolve() == path and stat.S_ISREG(path.lstat().st_mode):
                return path
        except (OSError, ValueError):
            pass
        raise NoStudyError(f"{name} has no {file} that can be shown")

    def facts(self, name: str, file: str) -> Path:
        """Returns the path of a unit's facts.

        Raises:
            NoStudyError: as ``file``, or if they are too long to be shown.
        """
        path = self.file(name, file)
        if path.stat().st_size > LONGEST_FACTS_BYTES:
            raise NoStudyError(f"{name}: {file} is too long to be shown")
        return path

    def plan(self, name: str) -> AskedUnits:
        """Returns what was asked for in a study.

        Raises:
            NoStudyError: if there is no such study, or it has no plan that can be read.
        """
        self.file(name, PLAN_FILE)
        try:
            return read_plan(self.folder(name))
        except StudyFolderError as error:
            raise NoStudyError(str(error)) from error

    def page(self, search: str, first: int) -> tuple[list[Head], bool]:
        """Returns studies, the latest first.

        Args:
            search: words that each of them has; empty for all.
            first: how many to skip.

        Returns:
            At most ``PAGE_STUDIES``, and whether there are more.
        """
        words = search.lower().split()
        found = []
        wanted = first + PAGE_STUDIES + 1
        for head in self._all():
            if head.has(words):
                found.append(head)
                if len(found) == wanted:
                    break
        return found[first : first + PAGE_STUDIES], len(found) == wanted

    def head(self, name: str) -> Head:
        """Returns the head of one study.

        Raises:
            NoStudyError: if there is none.
        """
        head = self._head(name, self.folder(name).stat().st_mtime_ns)
        if head is None:
            raise NoStudyError(f"{name} is not a study")
        return head

    def is_held(self, name: str) -> bool:
        """Returns whether a run holds the study's folder now."""
        return lock_holder(self.folder(name)) is not None

    def _all(self) -> Iterator[Head]:
        written_ns = {}
        with suppress(FileNotFoundError), os.scandir(self.results) as found:
            for each in found:
                if not each.name.startswith(".") and each.is_dir(follow_symlinks=False):
                    written_ns[each.name] = each.stat(follow_symlinks=False).st_mtime_ns
        for name in sorted(written_ns, key=lambda name: (-written_ns[name], name)):
            head = self._head(name, written_ns[name])
            if head is not None:
                yield head

    def _head(self, name: str, written_ns: int) -> Head | None:
        known = self._heads.get(name)
        if known is None or known[0] != written_ns:
            known = self._heads[name] = (written_ns, self._read_head(name, written_ns))
        return known[1]

    def _read_head(self, name: str, written_ns: int) -> Head | None:
        """Returns what a study's answer says, else what its scenario asks; None for no study."""
        said = self._answer(name)
        if said is None and not (self.results / name / PLAN_FILE).is_file():
            return None
        outcome = _text((said or {}).get("outcome"))
        return Head(
            name=name,
            question=self._asked(name) if said is None else _text(said.get("question")),
            answer=" ".join(map(_text, sentences(said or {})))[:_LONGEST_TEXT],
            outcome=outcome if outcome in set(StudyOutcome) else "unfinished",
            written_s=written_ns / 1e9,
        )

    def _answer(self, name: str) -> dict[str, Any] | None:
        try:
            said = json.loads(self.read(name, ANSWER, _LONGEST_HEAD_BYTES))
        except (NoStudyError, ValueError, RecursionError):
            return None
        return said if isinstance(said, dict) else None

    def _asked(self, name: str) -> str:
        """Returns what the beginning of ``scenario.yaml`` asks; empty if it does not say."""
        try:
            text = self.read(name, "scenario.yaml", 16 * MIB)[:_LONGEST_HEAD_BYTES]
            about = _ABOUT.search(text.decode("utf-8", "replace"))
            return _text(yaml.safe_load(about[0])["about"]) if about else ""
        except (NoStudyError, yaml.YAMLError, TypeError, RecursionError):
            return ""


def _text(value: object) -> str:
    return " ".join(value[:_LONGEST_TEXT].split()) if isinstance(value, str) else ""


def _read_plain(path: Path, most_bytes: int) -> bytes:
    """Reads a plain file; a link, a pipe or a device is an ``OSError``."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{path} is no plain file")
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise OSError(f"{path} is longer than {most_bytes} bytes")
    return content
