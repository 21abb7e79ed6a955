"""A station at a load: servers with one queue, what they are asked for, and who waits."""

from dataclasses import dataclass
from typing import Final

from sim.estimate.fixed_point import fixed_point
from sim.queueing.formulas import finds_idle, mean_wait
from sim.units import NS_PER_S

MOST_USED: Final = 0.985
"""Stations are not looked at above this utilisation: there is no balance near 1."""

_STILL: Final = 1e-3


@dataclass(slots=True)
class StationLoad:
    """One station of a node."""

    servers: int
    jobs: float = 0.0
    """Per second."""
    busy: float = 0.0
    """Servers, on average; more than there are: it cannot do what is asked."""
    queue: float | None = None
    """Jobs that wait; None: it has no queue of its own."""
    cv: float = 1.0
    """Coefficient of variation of a job's time."""
    hop_ns: float = 0.0
    """For which a job waits, on average, until its thread is awake."""
    in_groups: float = 0.0
    """Jobs per second that do not come one by one."""
    together: float = 1.0
    """Of these, how many at once."""

    @property
    def service_ns(self) -> float:
        """Mean time of one job."""
        return self.busy / self.jobs * NS_PER_S if self.jobs else 0.0

    @property
    def within(self) -> float:
        """Servers busy, as far as a queue is in balance."""
        return min(self.busy, MOST_USED * self.servers)

    @property
    def wait_ns(self) -> float:
        """How long a job waits for a server (M/G/m, as Allen and Cunneen have it)."""
        if not self.jobs:
            return 0.0
        return mean_wait(self.servers, self.within / self.service_ns, self.service_ns, self.cv)

    def wake(self, thread_hop_ns: float) -> None:
        """Adds to ``busy`` that a job which finds a thread idle waits until it is awake.

        The busier the servers, and the more jobs come at once, the fewer are woken.
        """
        working = self.busy
        grouped = self.in_groups / self.jobs if self.jobs else 0.0

        def follows_from(hop_ns: float) -> float:
            self.busy = working + self.jobs * hop_ns / NS_PER_S
            woken = (1 - grouped) * finds_idle(self.servers, self.busy)
            woken += grouped * finds_idle(self.servers, self.busy, self.together)
            return woken * thread_hop_ns

        self.hop_ns = fixed_point(follows_from, thread_hop_ns, close=_STILL, most=thread_hop_ns)
