"""The driver's copy of a study that lies in an object store.

Law: the copy is a study's folder like any other. Units come into it as executors put them into the
store, so whatever follows a run, sums it up or reads it knows nothing of stores; results go back.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from analysis.pipeline.object_store import ObjectStore, is_address
from analysis.study.ledger import scan
from analysis.study.study_folder import locked_study_folder, write_text_whole
from analysis.study.unit_folder import FAILED_SUFFIX, TEMPORARY_PREFIX

LISTED_EVERY_S: Final = 2.0
"""A listing costs a request for every thousand files."""
AT_ONCE: Final = 16
"""Files that travel at the same time: most of it is waiting for answers."""


class StoreCopy:
    """The units of a store in a folder of this machine."""

    def __init__(self, store: ObjectStore, units_dir: Path) -> None:
        """Takes both."""
        self._store = store
        self._units_dir = units_dir
        self._next_s = 0.0

    def pull(self, *, now: bool = False) -> None:
        """Fetches what the store has and the copy has not, at most every two seconds.

        Args:
            now: do not wait.

        Raises:
            OSError: if the store cannot be read.
        """
        if not now and time.perf_counter() < self._next_s:
            return
        there, here = self._store.unit_names(), self._names()
        attempts = set(filter(_is_attempt, there))
        self._at_once(self._fetch, sorted(there - here - attempts))
        for name in attempts - here:
            (self._units_dir / name).mkdir(exist_ok=True)
        for name in filter(_is_attempt, here - attempts):
            shutil.rmtree(self._units_dir / name, ignore_errors=True)
        self._next_s = time.perf_counter() + LISTED_EVERY_S

    def push(self) -> None:
        """Puts results, and units that only the copy has.

        Raises:
            OSError: if the store cannot be written.
        """
        folder, there = self._units_dir.parent, self._store.unit_names()
        self._at_once(
            lambda name: self._store.write_unit(self._units_dir / name),
            sorted(scan(self._units_dir).done - there),
        )
        failed = {name for name in self._names() - there if name.endswith(FAILED_SUFFIX)}
        results = [file for file in folder.rglob("*") if self._units_dir not in file.parents]
        files = [*(self._units_dir / name for name in failed), *results]
        names = [file.relative_to(folder).as_posix() for file in files if _is_result(file)]
        self._at_once(lambda name: self._store.write(name, (folder / name).read_bytes()), names)

    def forget(self, unit_hashes: Iterable[str]) -> None:
        """Removes units, failures and attempts from the store, and attempts from the copy."""
        wanted = set(unit_hashes)
        self._remove(name for name in self._store.unit_names() if _unit_of(name) in wanted)

    def forget_attempts(self) -> None:
        """Removes what attempts that died have left, when no unit is being simulated."""
        self._remove(filter(_is_attempt, self._store.unit_names()))

    def _remove(self, names: Iterable[str]) -> None:
        self._at_once(lambda name: self._store.remove(f"units/{name}"), names)
        self.pull(now=True)

    def _names(self) -> set[str]:
        return {path.name for path in self._units_dir.iterdir()}

    def _fetch(self, name: str) -> None:
        if name.endswith(FAILED_SUFFIX):
            text = self._store.read(f"units/{name}").decode("utf-8", "replace")
            write_text_whole(self._units_dir / name, text)
        else:
            self._store.fetch_unit(self._units_dir / name)

    @staticmethod
    def _at_once(move: Callable[[str], None], names: Iterable[str]) -> None:
        with ThreadPoolExecutor(AT_ONCE) as movers:
            for _ in movers.map(move, names):
                pass


def place_of(named: str | None, usual: Path) -> tuple[Path, ObjectStore | None]:
    """Returns a study's folder, and the store that it is a copy of, if there is one.

    Args:
        named: a folder, or an address in a store, whose copy is the usual folder; None: that alone.
        usual: the folder that a study has if none is named.

    Raises:
        StudyFolderError: if the store cannot be used.
    """
    if named is None or is_address(named):
        return usual, None if named is None else ObjectStore.at(named)
    return Path(named), None


@contextmanager
def copied_study_folder(folder: Path, store: ObjectStore | None) -> Iterator[Path]:
    """Holds a study's folder alone; with a store, it begins with its units and ends there, too.

    Raises:
        StudyFolderError: as ``locked_study_folder``.
        OSError: likewise, and if the store cannot be read or written.
    """
    with locked_study_folder(folder):
        copy = None if store is None else StoreCopy(store, folder / "units")
        if copy is not None:
            copy.pull(now=True)
        yield folder
        if copy is not None:
            copy.push()


def _is_attempt(name: str) -> bool:
    return name.startswith(TEMPORARY_PREFIX)


def _unit_of(name: str) -> str:
    if _is_attempt(name):
        return name.removeprefix(TEMPORARY_PREFIX).rpartition("-")[0]
    return name.removesuffix(FAILED_SUFFIX)


def _is_result(file: Path) -> bool:
    return file.is_file() and not file.name.startswith(".")
