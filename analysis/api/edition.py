"""What a study's folder held when it was opened, so that nothing later is taken for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from analysis.study.study_folder import StudyFolderError

_FILES: Final = ("scenario.yaml", "manifest.json")


class Edition:
    """The question of a folder, and what its results are made of.

    A run that changes one of them writes the question first and the manifest last, so that between
    two looks that find both the same, the tables are the same, too.
    """

    def __init__(self, folder: Path) -> None:
        """Takes a study's folder as it is now."""
        self._folder = folder
        self._written = self._stamps()
        self._content = self._read()

    def refuse_changed(self) -> None:
        """Refuses a folder that holds something else by now.

        Raises:
            StudyFolderError: if it does.
        """
        written = self._stamps()
        if written == self._written:
            return
        if self._read() != self._content:
            raise StudyFolderError(
                f"{self._folder}: was run again since this study was opened, and has other results "
                "now; open it again"
            )
        self._written = written

    def _stamps(self) -> list[tuple[int, int] | None]:
        found: list[tuple[int, int] | None] = []
        for name in _FILES:
            try:
                there = (self._folder / name).stat()
                found.append((there.st_mtime_ns, there.st_size))
            except OSError:
                found.append(None)
        return found

    def _read(self) -> tuple[str, Any]:
        """Returns the scenario, and the digest of what a summary is made of."""
        try:
            scenario = (self._folder / "scenario.yaml").read_text(encoding="utf-8")
        except (OSError, ValueError):
            scenario = ""
        try:
            manifest = (self._folder / "manifest.json").read_text(encoding="utf-8")
            return scenario, json.loads(manifest)["made_of"]
        except (OSError, ValueError, LookupError, TypeError):
            return scenario, None
