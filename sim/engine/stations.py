"""Servers without events: a FIFO station answers at once when a job will be done.

Law: jobs must be reserved in the order in which they arrive, so ``now_ns`` never falls from call to
call. Lindley's recursion then gives the finish: a job starts when it has arrived and a server is
free (D. V. Lindley, The theory of queues with a single server, 1952). What cannot be observed (the
start, the wait) costs nothing; only whoever needs the finish schedules a call for it.
"""

from bisect import bisect_right, insort
from collections.abc import Sequence
from heapq import heappush, heapreplace
from itertools import accumulate
from typing import Any

from sim.distributions import Sampler
from sim.engine.environment import Call, LeanEnv


class FifoServer:
    """One server, first come first served."""

    __slots__ = ("busy_ns", "free_ns")

    def __init__(self) -> None:
        self.free_ns = 0
        """When the server will have done everything reserved so far."""
        self.busy_ns = 0
        """Service reserved so far."""

    def reserve(self, now_ns: int, service_ns: int) -> int:
        """Returns when a job that arrives now will be done, in nanoseconds."""
        finish_ns = self.free_ns
        if now_ns > finish_ns:  # A call of max would take a third of this method.
            finish_ns = now_ns
        self.free_ns = finish_ns = finish_ns + service_ns
        self.busy_ns += service_ns
        return finish_ns


class SampledServer:
    """One server that draws its service times itself, in the order of arrival.

    ``then_ns`` is added to every finish: a fixed way behind the server, such as a cable.
    """

    __slots__ = ("_drawn_ns", "_draws", "_env", "_sampler", "_then_ns", "free_ns")

    def __init__(self, env: LeanEnv, sampler: Sampler, then_ns: int = 0) -> None:
        self._env = env
        self._sampler = sampler
        self._draws: list[int] = []
        self._drawn_ns = 0
        self._then_ns = then_ns
        self.free_ns = 0
        """When the server will have done everything reserved so far."""

    @property
    def busy_ns(self) -> int:
        """Service reserved so far."""
        return self._drawn_ns - sum(self._draws)

    def reserve(self, now_ns: int) -> int:
        """Returns when a job that arrives at ``now_ns`` will be done and through."""
        draws = self._draws
        if not draws:
            self._draw()
        free_ns = self.free_ns
        if now_ns > free_ns:  # A call of max would take a third of this method.
            free_ns = now_ns
        self.free_ns = free_ns = free_ns + draws.pop()
        return free_ns + self._then_ns

    def submit(self, fn: Call, arg: Any) -> None:
        """Calls ``fn(arg)`` when a job that arrives now will be done and through."""
        env, draws = self._env, self._draws
        if not draws:
            self._draw()
        now_ns = env.now_ns
        free_ns = self.free_ns
        if now_ns > free_ns:  # A call of max would take a third of this method.
            free_ns = now_ns
        self.free_ns = free_ns = free_ns + draws.pop()
        env.pushed = order = env.pushed + 1
        heappush(env.calls, (free_ns + self._then_ns, order, fn, arg))

    def reserve_many(self, now_ns: int, jobs: int) -> list[int]:
        """Returns when each of ``jobs`` that arrive together will be done and through."""
        draws = self._draws
        while len(draws) < jobs:
            self._draw()
        services_ns = draws[: -jobs - 1 : -1]
        del draws[len(draws) - jobs :]
        began_ns = max(now_ns, self.free_ns)
        finishes_ns = list(accumulate(services_ns, initial=began_ns + self._then_ns))
        self.free_ns = finishes_ns[-1] - self._then_ns
        del finishes_ns[0]
        return finishes_ns

    def _draw(self) -> None:
        """Draws the next block of services; they come after those that are left."""
        block = self._sampler.block()
        self._drawn_ns += sum(block)
        self._draws[:0] = block


class FifoServers:
    """Several equal servers with one queue, first come first served.

    Args:
        servers: how many.
        slowness: by how much a job takes longer when so many servers are busy, itself included
            (``smt_slowness``); fixed at the job's start. None: they do not disturb each other.
    """

    __slots__ = ("_free", "_slowness", "busy_ns")

    def __init__(self, servers: int, slowness: Sequence[float] | None = None) -> None:
        self._free = [0] * servers
        self._slowness = slowness or [1.0] * (servers + 1)
        self.busy_ns = 0
        """Time that servers were taken by what was reserved so far, summed over them."""

    def reserve(self, now_ns: int, service_ns: int) -> int:
        """Returns when a job that arrives now will be done, in nanoseconds."""
        free = self._free
        start_ns = free.pop(0)
        if now_ns > start_ns:
            start_ns = now_ns
        busy = len(free) + 1 - bisect_right(free, start_ns)
        held_ns = int(service_ns * self._slowness[busy])
        self.busy_ns += held_ns
        insort(free, start_ns + held_ns)
        return start_ns + held_ns


class SampledServers:
    """Several equal servers with one queue, which draw their service times themselves.

    Each job is an argument of ``then``, which is called with it at the job's finish.
    """

    __slots__ = ("_draws", "_env", "_free", "_sampler", "_then")

    def __init__(self, env: LeanEnv, sampler: Sampler, servers: int, then: Call) -> None:
        self._env = env
        self._sampler = sampler
        self._draws: list[int] = []
        self._free = [0] * servers
        self._then = then

    def enter(self, job: Any) -> None:
        """Queues a job that arrives now; fit to be the call of an entry itself."""
        env, draws = self._env, self._draws
        if not draws:
            draws.extend(self._sampler.block())
        now_ns = env.now_ns
        finish_ns = self._free[0]
        if now_ns > finish_ns:
            finish_ns = now_ns
        finish_ns += draws.pop()
        heapreplace(self._free, finish_ns)
        env.pushed = order = env.pushed + 1
        heappush(env.calls, (finish_ns, order, self._then, job))
