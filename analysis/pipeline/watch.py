"""Follows units while they run."""

from __future__ import annotations

from analysis.study.units import Unit


class Watch:
    """Hears of units while they run; this one does nothing."""

    def finished(self, done: int) -> None:
        """Takes the number of units that have ended, at every look."""

    def failed(self, unit: Unit, error: str) -> None:
        """Takes a failure, once, as soon as it is known."""

    @property
    def wants_stop(self) -> bool:
        """Whether running units are to be broken off, and no more begun."""
        return False
