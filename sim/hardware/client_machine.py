"""The machine of the clients: their drivers and the proxy before TiDB share its hardware threads.

Source: TiDB docs, performance tests: sysbench and go-tpc beside HAProxy on one machine.
"""

from math import floor
from typing import Final

from sim.distributions import Sampler
from sim.engine import FifoServers, RunQueues

CLIENT_WAKES: Final = 3
"""The proxy when the statement comes and when its answer comes, and the client."""


class ClientMachine:
    """Hardware threads that statements wait for on their way."""

    def __init__(
        self, cpu: FifoServers, run_queues: RunQueues, statement_ns: int, draw: Sampler
    ) -> None:
        """Args: ``statement_ns`` is the mean, ``draw`` varies it."""
        self._cpu = cpu
        self._run_queues = run_queues
        self._statement_ns = statement_ns
        self._draw = draw
        self._units: list[float] = []

    @property
    def busy_ns(self) -> int:
        """Time that hardware threads were busy so far, summed over them."""
        return self._cpu.busy_ns

    def statement(self, now_ns: int) -> int:
        """Returns how long a statement takes here, its wait for a thread included, in ns."""
        units = self._units
        if not units:  # They go in pairs.
            units.extend(self._draw.unit_block())
        cpu = self._cpu
        done_ns = cpu.reserve(now_ns, floor(self._statement_ns * units.pop()))
        waits_ns = CLIENT_WAKES * self._run_queues.wait(now_ns, cpu.busy_ns)
        return done_ns - now_ns + floor(waits_ns * units.pop())
