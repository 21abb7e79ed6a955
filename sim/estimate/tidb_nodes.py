"""A TiDB node at a rate of statements: threads that run, and how long a statement takes.

Statements wait in one queue for a hardware thread and are slowed down by the other threads of
the cores, as ``sim.client.tidb`` has it. All nodes are alike.
"""

from typing import Final

from sim.engine import smt_slowness
from sim.queueing.formulas import crowded_servers
from sim.scenario.resolved import Scenario
from sim.units import NS_PER_S

_NEARLY_ALL: Final = 0.995
"""Statements are not looked at above this use of a node: nothing ends there."""


class TidbNodes:
    """What does not depend on the load."""

    def __init__(self, scenario: Scenario) -> None:
        hardware, cpu = scenario.hardware, scenario.hardware.cpu
        self.threads = hardware.tidb_cores
        self.nodes = scenario.cluster.tidb_nodes
        self.statement_ns = cpu.tidb_statement_ns
        """CPU of a statement on a core of its own."""
        slowness = smt_slowness(self.threads, hardware.threads_per_core, cpu.smt_gain)
        self._capacity = [running / slow for running, slow in enumerate(slowness)]
        self._variability = (1 + cpu.cv * cpu.cv) / 2
        """What Allen and Cunneen correct an exponential server's queue by."""

    def used(self, statements_per_s: float) -> float:
        """Returns the work that all nodes are asked for over what they can do; 1 is saturation."""
        return self._work(statements_per_s) / self._capacity[-1]

    def utilisation(self, statements_per_s: float) -> float:
        """Returns the share of hardware threads that run; what is asked for from saturation on."""
        used = self.used(statements_per_s)
        return used if used >= 1 else self._crowd(statements_per_s)[0] / self.threads

    def queue(self, statements_per_s: float) -> float:
        """Returns how many statements wait at a node for a hardware thread."""
        return self._crowd(statements_per_s)[1]

    def times_ns(self, statements_per_s: float) -> tuple[float, float]:
        """Returns (time on a hardware thread, time before that) of a statement, in ns."""
        work = self._work(statements_per_s)
        if not work:
            return float(self.statement_ns), 0.0
        running, waiting = self._crowd(statements_per_s)
        scale = self.statement_ns / min(work, _NEARLY_ALL * self._capacity[-1])
        return running * scale, waiting * scale

    def _work(self, statements_per_s: float) -> float:
        return statements_per_s / self.nodes * self.statement_ns / NS_PER_S

    def _crowd(self, statements_per_s: float) -> tuple[float, float]:
        work = min(self._work(statements_per_s), _NEARLY_ALL * self._capacity[-1])
        running, waiting = crowded_servers(work, self._capacity)
        return running, waiting * self._variability
