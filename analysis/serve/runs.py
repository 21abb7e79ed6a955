"""Runs that pages ask for: the ordinary command in a process of its own.

A run that was started here goes on when the server ends; its folder says how far it is.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO, Final

from analysis.serve.studies import NoStudyError, Studies
from analysis.study.study_folder import lock_holder

_SAID_BYTES: Final = 8_000
_SAID_LINES: Final = 12


@dataclass(frozen=True, slots=True)
class _Run:
    process: subprocess.Popen[bytes]
    said: IO[bytes]

    @property
    def goes_on(self) -> bool:
        return self.process.poll() is None


class StudyRuns:
    """Starts and stops runs of studies that there are."""

    def __init__(self, studies: Studies, program: Sequence[str]) -> None:
        """Takes the studies, and the words that start this program."""
        self._studies = studies
        self._program = tuple(program)
        self._runs: dict[str, _Run] = {}

    def start(self, study: str) -> None:
        """Runs what is missing of a study, as its own file says it; nothing if it is running.

        Raises:
            NoStudyError: if there is no such study, or it has links, which could lead out of its
                folder.
        """
        if self.is_running(study):
            return
        folder = self._studies.folder(study)
        with os.scandir(folder) as entries:
            links = [entry.name for entry in entries if entry.is_symlink()]
        if links:
            raise NoStudyError(f"{study} is not run from here: {links[0]} is a link")
        command = [*self._program, "run", str(folder / "scenario.yaml"), "--out", str(folder)]
        said = TemporaryFile()  # noqa: SIM115 - as long as the server
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
        )
        self._runs[study] = _Run(process, said)

    def is_running(self, study: str) -> bool:
        """Returns whether a run is at work on a study, whoever started it."""
        run = self._runs.get(study)
        return (run is not None and run.goes_on) or self._studies.is_held(study)

    def stop(self, study: str) -> None:
        """Interrupts a study's run; units that are done are kept.

        Raises:
            NoStudyError: if there is no such study.
        """
        folder = self._studies.folder(study)
        run = self._runs.get(study)
        if run is not None and run.goes_on:
            run.process.terminate()
            return
        holder = lock_holder(folder)
        if holder is not None and holder.pid > 1 and holder.host == socket.gethostname():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(holder.pid, signal.SIGTERM)

    def said(self, study: str) -> list[str]:
        """Returns the last lines of a run that was started here; none without one."""
        run = self._runs.get(study)
        if run is None:
            return []
        descriptor = run.said.fileno()
        size = os.fstat(descriptor).st_size
        text = os.pread(descriptor, _SAID_BYTES, max(0, size - _SAID_BYTES))
        return text.decode("utf-8", "replace").splitlines()[-_SAID_LINES:]
