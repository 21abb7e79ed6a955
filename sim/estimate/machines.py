"""The clients' machine and the TiDB nodes at a rate of transactions: who runs, and who waits.

Jobs wait in one queue for a hardware thread and are slowed down by the other threads of the cores,
as ``sim.hardware.client_machine`` and ``sim.client.tidb`` have it. Machines of a kind are alike.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from sim.engine import queued_ns, smt_slowness
from sim.estimate.footprint import Footprint
from sim.queueing.formulas import crowded_servers
from sim.scenario.resolved import Scenario
from sim.units import NS_PER_S

_NEARLY_ALL: Final = 0.995
"""Jobs are not looked at above this use of a machine: nothing ends there."""


class JobKind(NamedTuple):
    """One kind of work."""

    per_txn: float
    cost_ns: float
    """CPU on a core of its own; 0: it waits for nobody."""


class AlikeMachines:
    """Machines of one kind; what does not depend on the load."""

    def __init__(
        self, scenario: Scenario, count: int, threads: int, jobs: Sequence[JobKind]
    ) -> None:
        """Args: ``count`` is how many machines, ``threads`` those of the hardware of one."""
        hardware, cpu = scenario.hardware, scenario.hardware.cpu
        self.threads = threads
        self._hop_ns = cpu.thread_hop_ns
        self._known: tuple[float, tuple[float, float]] | None = None
        """The crowd at the rate that was asked for last: it is asked for several times."""
        jobs = [job for job in jobs if job.cost_ns]
        self._jobs = sum(job.per_txn for job in jobs) / count
        self._work_ns = sum(job.per_txn * job.cost_ns for job in jobs) / count
        slowness = smt_slowness(threads, hardware.threads_per_core, cpu.smt_gain)
        self._capacity = [running / slow for running, slow in enumerate(slowness)]
        squares = sum(job.per_txn * job.cost_ns**2 for job in jobs) / count * (1 + cpu.cv * cpu.cv)
        self._variability = squares * self._jobs / self._work_ns**2 / 2 if self._work_ns else 0.0
        """What Allen and Cunneen correct an exponential server's queue by."""

    def used(self, txn_per_s: float) -> float:
        """Returns the work that all are asked for over what they can do; 1 is saturation."""
        return self._work(txn_per_s) / self._capacity[-1]

    def utilisation(self, txn_per_s: float) -> float:
        """Returns the share of hardware threads that run; what is asked for from saturation on."""
        used = self.used(txn_per_s)
        return used if used >= 1 else self._crowd(txn_per_s)[0] / self.threads

    def queue(self, txn_per_s: float) -> float:
        """Returns how many jobs wait at one machine for a hardware thread."""
        return self._crowd(txn_per_s)[1]

    def service_ns(self, txn_per_s: float) -> float:
        """Returns the mean time of a job on a hardware thread."""
        return self.times_ns(self._work_ns / self._jobs, txn_per_s)[0] if self._jobs else 0.0

    def times_ns(self, cost_ns: float, txn_per_s: float) -> tuple[float, float]:
        """Returns (time on a hardware thread, time before that) of a job that costs so much CPU."""
        work = self._work_within(txn_per_s)
        if not work or not cost_ns:
            return cost_ns, 0.0
        running, waiting = self._crowd(txn_per_s)
        jobs_per_ns = self._jobs * work / self._work_ns
        return cost_ns * running / work, waiting / jobs_per_ns

    def wake_ns(self, txn_per_s: float) -> float:
        """Returns how long a woken thread waits for others that run."""
        return queued_ns(self._hop_ns, self._crowd(txn_per_s)[0], self.threads)

    def _work(self, txn_per_s: float) -> float:
        return txn_per_s * self._work_ns / NS_PER_S

    def _work_within(self, txn_per_s: float) -> float:
        return min(self._work(txn_per_s), _NEARLY_ALL * self._capacity[-1])

    def _crowd(self, txn_per_s: float) -> tuple[float, float]:
        if self._known is None or self._known[0] != txn_per_s:
            running, waiting = crowded_servers(self._work_within(txn_per_s), self._capacity)
            self._known = txn_per_s, (running, waiting * self._variability)
        return self._known[1]


def client_machine(scenario: Scenario, made: Footprint) -> AlikeMachines:
    """Returns the machine that all clients are on."""
    hardware = scenario.hardware
    statements = JobKind(made.statements, hardware.cpu.client_statement_ns)
    return AlikeMachines(scenario, 1, hardware.client_cores, [statements])


def tidb_nodes(scenario: Scenario, made: Footprint, retries: float = 0.0) -> AlikeMachines:
    """Returns the TiDB nodes, with their statements and requests; ``retries`` are tried again."""
    hardware, cpu = scenario.hardware, scenario.hardware.cpu
    reading = made.statements - made.changing_statements
    jobs = [
        JobKind(reading, statement_ns(scenario, made, changing=0.0)),
        JobKind(made.changing_statements + retries, statement_ns(scenario, made, changing=1.0)),
        JobKind(made.all_requests + retries, cpu.tidb_request_ns),
    ]
    return AlikeMachines(scenario, scenario.cluster.tidb_nodes, hardware.tidb_cores, jobs)


def statement_ns(scenario: Scenario, made: Footprint, *, changing: float) -> float:
    """Returns the CPU of a statement on TiDB, of which this share lock or write."""
    cpu = scenario.hardware.cpu
    rows = made.rows / made.statements
    return cpu.tidb_statement_ns + cpu.tidb_write_ns * changing + cpu.tidb_row_ns * rows
