"""The clients' machine and the TiDB nodes at a rate of transactions: who runs, and who waits.

Jobs wait for a hardware thread and are slowed down by the other threads of the cores, as
``sim.hardware.machine_cpu`` and ``go_cpu`` have it. Machines of a kind are alike.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from sim.engine import queued_ns, smt_slowness
from sim.estimate.fixed_point import fixed_point
from sim.estimate.footprint import Footprint
from sim.queueing.formulas import crowded_servers
from sim.scenario.resolved import Scenario
from sim.scenario.schema.hardware import CpuCosts
from sim.transport.grpc import CONNECTIONS
from sim.units import NS_PER_S

_CLOSE: Final = 0.002
_NEARLY_ALL: Final = 0.995
"""Jobs are not looked at above this use of a machine: nothing ends there."""


class JobKind(NamedTuple):
    """One kind of work."""

    per_txn: float
    cost_ns: float
    """CPU on a core of its own; 0: it waits for nobody."""


class OpenMessages(NamedTuple):
    """Messages to the stores, each open to further requests until it is on its way."""

    requests: float
    """Per transaction."""
    cost_ns: float
    """CPU of a message and its answer."""
    connections: int
    """Of one machine."""


class _MachineLoad(NamedTuple):
    """One machine at a rate."""

    work: float
    """That is asked for, in hardware threads that have a core of their own."""
    within: float
    """The same, as far as it can be done."""
    running: float
    """Hardware threads."""
    waiting: float
    """Jobs."""
    jobs: float
    """Per second."""
    opening: float
    """Share of the requests that open a message."""


class MachineKind:
    """Machines of one kind; what does not depend on the load.

    Work that is shared (``OpenMessages``) is done for one job or for several, the more the busier.
    """

    def __init__(
        self,
        cpu: CpuCosts,
        count: int,
        slowness: Sequence[float],
        jobs: Sequence[JobKind],
        messages: OpenMessages | None = None,
    ) -> None:
        """Args: ``count`` is how many machines, ``slowness`` that of ``smt_slowness`` of one."""
        self.threads = len(slowness) - 1
        self._run_ns = cpu.thread_run_ns
        jobs = [JobKind(job.per_txn / count, job.cost_ns) for job in jobs if job.cost_ns]
        self._jobs = jobs
        self._messages = messages
        self._asking = messages.requests / count if messages else 0.0
        self._capacity = [running / slow for running, slow in enumerate(slowness)]
        self._varies = (1 + cpu.cv * cpu.cv) / 2
        self._known: tuple[float, _MachineLoad] | None = None
        """At the rate that was asked for last: it is asked for several times."""

    def used(self, txn_per_s: float) -> float:
        """Returns the work that all are asked for over what they can do; 1 is saturation."""
        return self._at(txn_per_s).work / self._capacity[-1]

    def utilisation(self, txn_per_s: float) -> float:
        """Returns the share of hardware threads that run; what is asked for from saturation on."""
        used = self.used(txn_per_s)
        return used if used >= 1 else self._at(txn_per_s).running / self.threads

    def queue(self, txn_per_s: float) -> float:
        """Returns how many jobs wait at one machine for a hardware thread."""
        return self._at(txn_per_s).waiting

    def service_ns(self, txn_per_s: float) -> float:
        """Returns the mean time of a job on a hardware thread."""
        load = self._at(txn_per_s)
        return load.running / load.jobs * NS_PER_S if load.jobs else 0.0

    def times_ns(self, cost_ns: float, txn_per_s: float) -> tuple[float, float]:
        """Returns (time on a hardware thread, time before that) of a job that costs so much CPU."""
        load = self._at(txn_per_s)
        if not load.work or not cost_ns:
            return cost_ns, 0.0
        return cost_ns * load.running / load.within, load.waiting / load.jobs * NS_PER_S

    def wake_ns(self, txn_per_s: float) -> float:
        """Returns how long a woken thread waits for others that run."""
        return queued_ns(self._run_ns, self._at(txn_per_s).running, self.threads)

    def opening(self, txn_per_s: float) -> float:
        """Returns the share of the requests that open a message; the others find one open."""
        return self._at(txn_per_s).opening

    def message_ns(self, txn_per_s: float) -> float:
        """Returns for how long a message is open: until it is on its way."""
        assert self._messages is not None, "only who sends requests sends messages"
        own, waits = self.times_ns(self._messages.cost_ns, txn_per_s)
        return own + waits

    def _at(self, txn_per_s: float) -> _MachineLoad:
        if self._known is None or self._known[0] != txn_per_s:
            self._known = txn_per_s, self._load(txn_per_s, 1.0)
            if self._messages is not None:
                self._share(txn_per_s, self._messages)
        return self._known[1]

    def _share(self, txn_per_s: float, messages: OpenMessages) -> None:
        """Finds how many requests share a message: those that come while it is open.

        The more messages, the longer each is open, and the fewer there are: one answer.
        """
        per_ns = txn_per_s * self._asking / messages.connections / NS_PER_S

        def follows_from(opening: float) -> float:
            self._known = txn_per_s, self._load(txn_per_s, opening)
            return 1 / (1 + per_ns * self.message_ns(txn_per_s))

        fixed_point(follows_from, 1.0, close=_CLOSE, least=_CLOSE, most=1.0)

    def _load(self, txn_per_s: float, opening: float) -> _MachineLoad:
        jobs = self._jobs
        if self._messages is not None and self._messages.cost_ns:
            jobs = [*jobs, JobKind(self._asking * opening, self._messages.cost_ns)]
        count = sum(job.per_txn for job in jobs)
        work_ns = sum(job.per_txn * job.cost_ns for job in jobs)
        work = txn_per_s * work_ns / NS_PER_S
        within = min(work, _NEARLY_ALL * self._capacity[-1])
        running, waiting = crowded_servers(within, self._capacity)
        if work_ns:  # What Allen and Cunneen correct an exponential server's queue by.
            squares = sum(job.per_txn * job.cost_ns**2 for job in jobs)
            waiting *= squares * count / work_ns**2 * self._varies
        jobs_per_s = count * within / work_ns * NS_PER_S if work_ns else 0.0
        return _MachineLoad(work, within, running, waiting, jobs_per_s, opening)


def client_machine(scenario: Scenario, footprint: Footprint) -> MachineKind:
    """Returns the machine that all clients are on."""
    hardware = scenario.hardware
    statements = JobKind(footprint.statements, hardware.cpu.client_statement_ns)
    slowness = _slowness(scenario, hardware.client_cores)
    return MachineKind(hardware.cpu, 1, slowness, [statements])


def tidb_nodes(scenario: Scenario, footprint: Footprint, retries: float = 0.0) -> MachineKind:
    """Returns the TiDB nodes, with their statements and requests; ``retries`` are tried again."""
    hardware, cpu = scenario.hardware, scenario.hardware.tidb_cpu
    reading = footprint.statements - footprint.changing_statements
    jobs = [
        JobKind(reading, statement_ns(scenario, footprint, changing=0.0)),
        JobKind(
            footprint.changing_statements + retries, statement_ns(scenario, footprint, changing=1.0)
        ),
        JobKind(footprint.all_requests + retries, cpu.tidb_request_ns),
    ]
    messages = OpenMessages(
        footprint.all_requests + retries,
        2 * cpu.grpc_message_ns,
        CONNECTIONS * scenario.cluster.stores,
    )
    slowness = _slowness(scenario, hardware.goroutine_threads)
    return MachineKind(cpu, scenario.cluster.tidb_nodes, slowness, jobs, messages)


def _slowness(scenario: Scenario, threads: int) -> list[float]:
    hardware = scenario.hardware
    return smt_slowness(threads, hardware.threads_per_core, hardware.cpu.smt_gain)


def statement_ns(scenario: Scenario, footprint: Footprint, *, changing: float) -> float:
    """Returns the CPU of a statement on TiDB, of which this share lock or write."""
    cpu = scenario.hardware.tidb_cpu
    rows = footprint.rows / footprint.statements
    return cpu.tidb_statement_ns + cpu.tidb_write_ns * changing + cpu.tidb_row_ns * rows
