"""What the checkers have found: one line a violation, the first few of each law.

A law that is broken once is broken a thousand times by the end; the first violations say most.
"""

from typing import Final

from sim.engine import LeanEnv
from sim.units import NS_PER_MS

MOST_SHOWN: Final = 5
"""Violations of one law that are shown in full."""


class Report:
    """The violations of one run."""

    def __init__(self, env: LeanEnv, seed: int) -> None:
        self._env = env
        self._seed = seed
        self._counts: dict[str, int] = {}
        self._lines: list[str] = []

    def add(self, law: str, what: str, at_ns: int | None = None) -> None:
        """Notes that ``law`` is broken: at ``at_ns``, or now."""
        count = self._counts[law] = self._counts.get(law, 0) + 1
        if count <= MOST_SHOWN:
            at_ms = (self._env.now_ns if at_ns is None else at_ns) / NS_PER_MS
            shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in what)
            self._lines.append(f"{law}: {shown}, at {at_ms:.3f} ms (seed {self._seed})")

    def lines(self) -> list[str]:
        """Returns the violations, and how many of each law were left out."""
        more = [
            f"{law}: {count - MOST_SHOWN} more"
            for law, count in self._counts.items()
            if count > MOST_SHOWN
        ]
        return self._lines + more
