"""The monitor of a Go program (sysmon): a thread of its own that looks every 20 us or so.

Law: while the program does anything, it sleeps, runs, looks, and sleeps again; after 50 looks for
nothing its naps double each time, up to 10 ms, until it finds something to do. When nothing goes on
it sleeps until it is called.

Source: golang/go release-branch.go1.19 src/runtime/proc.go (sysmon).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sim.etcd.shared_cores import Process
from sim.units import NS_PER_MS, NS_PER_US

if TYPE_CHECKING:
    from collections.abc import Callable

    from sim.engine.environment import LeanEnv
    from sim.etcd.shared_cores import SharedCores

FOUND: Final = 1
"""The monitor had something to do."""

DULL: Final = 0
"""It had not."""

IDLE: Final = -1
"""Nothing goes on."""

_NAP_NS: Final = 20 * NS_PER_US
"""How long it sleeps."""

_LONGEST_NAP_NS: Final = 10 * NS_PER_MS
"""How long at most."""

_DULL_LOOKS: Final = 50
"""After so many for nothing in a row its naps get longer."""

_TIMER_SLACK_NS: Final = 50 * NS_PER_US
"""How much later Linux may wake up who sleeps (PR_SET_TIMERSLACK)."""


class Monitor:
    """One program's monitor.

    Args:
        env: the clock.
        cores: those of its machine.
        watch_ns: CPU of one look.
        look: looks, and returns ``FOUND``, ``DULL`` or ``IDLE``.
    """

    __slots__ = ("_asleep", "_dull", "_env", "_look", "_nap_ns", "_thread", "_watch_ns", "looks")

    def __init__(
        self, env: LeanEnv, cores: SharedCores, watch_ns: int, look: Callable[[], int]
    ) -> None:
        self._env = env
        self._thread = Process(cores, 1)
        self._watch_ns = watch_ns
        self._look = look
        self._asleep = True
        self._dull = 0
        self._nap_ns = _NAP_NS
        self.looks = 0
        """How often it has looked."""

    def call(self) -> None:
        """Says that something goes on."""
        if self._asleep:
            self._asleep = False
            self._dull = 0
            self._nap_ns = _NAP_NS
            self._run(None)

    def _run(self, _: Any) -> None:
        self._thread.submit(self._watch_ns, self._looked, None)

    def _looked(self, _: Any) -> None:
        self.looks += 1
        seen = self._look()
        if seen == IDLE:
            self._asleep = True
            return
        if seen == FOUND:
            self._dull = 0
            self._nap_ns = _NAP_NS
        else:
            self._dull += 1
            if self._dull > _DULL_LOOKS:
                self._nap_ns = min(2 * self._nap_ns, _LONGEST_NAP_NS)
        self._env.at(self._env.now_ns + self._nap_ns + _TIMER_SLACK_NS, self._run, None)
