"""The monitor of a Go program (sysmon): a thread of its own that looks every 20 us or so.

It sleeps, runs, looks, and sleeps again. After 50 looks that found nothing to do it sleeps twice as
long each time, up to 10 ms, until it finds something. While the program is idle it does not run.

Source: golang/go release-branch.go1.19 src/runtime/proc.go (sysmon).
"""

from collections.abc import Callable
from typing import Any, Final

from sim.engine.environment import LeanEnv
from sim.etcd.shared_cores import Program, SharedCores
from sim.units import NS_PER_MS, NS_PER_US

RETOOK: Final = 1
"""A look of the monitor has retaken a proc."""

NOTHING: Final = 0
"""It has not."""

IDLE: Final = -1
"""The whole program is idle."""

_SLEEP_NS: Final = 20 * NS_PER_US
"""How long it sleeps."""

_LONGEST_SLEEP_NS: Final = 10 * NS_PER_MS
"""How long at most."""

_IDLE_LOOKS: Final = 50
"""After so many looks in a row that found nothing it sleeps longer."""

_TIMER_SLACK_NS: Final = 50 * NS_PER_US
"""How much later than asked for Linux may wake up a thread (PR_SET_TIMERSLACK)."""


class Monitor:
    """One program's monitor.

    Args:
        env: the clock.
        cores: those of its machine.
        watch_ns: CPU of one look.
        look: looks once; returns ``RETOOK``, ``NOTHING`` or ``IDLE``.
    """

    def __init__(
        self, env: LeanEnv, cores: SharedCores, watch_ns: int, look: Callable[[], int]
    ) -> None:
        self._env = env
        self._os_thread = Program(cores, 1)
        self._watch_ns = watch_ns
        self._look = look
        self._asleep = True
        self._idle_looks = 0
        self._sleep_ns = _SLEEP_NS
        self.looks = 0
        """How often it has looked."""

    def wake(self) -> None:
        """Wakes it up: the program is not idle any more."""
        if self._asleep:
            self._asleep = False
            self._idle_looks = 0
            self._sleep_ns = _SLEEP_NS
            self._run(None)

    def _run(self, _: Any) -> None:
        self._os_thread.submit(self._watch_ns, self._looked, None)

    def _looked(self, _: Any) -> None:
        self.looks += 1
        seen = self._look()
        if seen == IDLE:
            self._asleep = True
            return
        if seen == RETOOK:
            self._idle_looks = 0
            self._sleep_ns = _SLEEP_NS
        else:
            self._idle_looks += 1
            if self._idle_looks > _IDLE_LOOKS:
                self._sleep_ns = min(2 * self._sleep_ns, _LONGEST_SLEEP_NS)
        self._env.at(self._env.now_ns + self._sleep_ns + _TIMER_SLACK_NS, self._run, None)
