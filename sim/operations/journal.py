"""What was done and when: a counter for every kind of operation, an event for each time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.engine import LeanEnv
    from sim.record.recorder import Recorder


class Journal:
    """Writes facts: counter ``operations`` by kind, and the table of events."""

    __slots__ = ("_env", "_recorder")

    def __init__(self, env: LeanEnv, recorder: Recorder) -> None:
        self._env = env
        self._recorder = recorder

    def note(self, kind: str, detail: str) -> None:
        """Writes down that an operation was begun, and about what: ``region 7 to store 2``."""
        self._recorder.counter("operations", kind).value += 1
        self._recorder.event(self._env.now_ns, kind, detail)

    def mark(self, kind: str, detail: str) -> None:
        """Writes down a moment within an operation, such as its end."""
        self._recorder.event(self._env.now_ns, kind, detail)
