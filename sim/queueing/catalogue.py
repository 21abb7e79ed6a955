"""Every queue with its formula: what ``validate`` compares, and where it is run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sim.distributions import Empirical, Exponential, LognormalMean
from sim.queueing import formulas, runs
from sim.queueing.devices import lab_disk
from sim.units import NS_PER_S, NS_PER_US

SERVICE_NS: Final = 40 * NS_PER_US
_APPEND: Final = lab_disk().append
"""Appends of the measured disk: most take 0.1 ms, one in ten thousand more than a millisecond."""

assert isinstance(_APPEND, Empirical), "the measured disk is given by its quantiles"


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue, what is asked of it, and the formula's answer."""

    what: str
    """Its name and the figure that is meant, in a few words."""
    setting: str
    unit: str
    expected: float
    """In ``unit``."""
    run: Callable[[], Sequence[int]]
    """Returns a series, one a customer, whose mean is meant."""
    to_unit: Callable[[float], float] = lambda mean_ns: mean_ns / NS_PER_US
    """From the mean of the series, in ns."""


def _time(what: str, setting: str, expected_ns: float, run: Callable[[], Sequence[int]]) -> Queue:
    return Queue(what, setting, "us", expected_ns / NS_PER_US, run)


def _wait_ns(servers: int, load: float, service_ns: float, cv: float = 1.0) -> float:
    """Returns the mean wait; ``load`` is per server, below 1."""
    return formulas.mean_wait(servers, servers * load / service_ns, service_ns, cv)


def _rate(what: str, setting: str, per_s: float, run: Callable[[], Sequence[int]]) -> Queue:
    """Returns a queue of which the gaps between ends are known."""
    return Queue(what, setting, "1/s", per_s, run, lambda gap_ns: NS_PER_S / gap_ns)


_DEMANDS_NS: Final = (SERVICE_NS, 25 * NS_PER_US)
_THINK_NS: Final = 200 * NS_PER_US
_CUSTOMERS: Final = 6
_MEAN_NS, _CV = runs.moments(_APPEND)

QUEUES: Final[Mapping[str, Queue]] = {
    "m_m_1": _time(
        "M/M/1, mean wait",
        "a pool of one thread, 70 % busy",
        _wait_ns(1, 0.7, SERVICE_NS),
        lambda: runs.thread_pool_waits("m_m_1", 1, 0.7, Exponential(SERVICE_NS)),
    ),
    "m_m_4": _time(
        "M/M/4, mean wait",
        "a pool of four threads, 80 % busy",
        _wait_ns(4, 0.8, SERVICE_NS),
        lambda: runs.thread_pool_waits("m_m_4", 4, 0.8, Exponential(SERVICE_NS)),
    ),
    "m_m_8": _time(
        "M/M/8, mean wait",
        "cores by reservation, 70 % busy",
        _wait_ns(8, 0.7, SERVICE_NS),
        lambda: runs.reserved_waits("m_m_8", 8, 0.7, Exponential(SERVICE_NS)),
    ),
    "m_d_1": _time(
        "M/D/1 disk, mean wait",
        "70 % of its I/Os",
        _wait_ns(1, 0.7, SERVICE_NS, 0.0),
        lambda: runs.disk_waits("m_d_1", 0.7, SERVICE_NS),
    ),
    "m_d_1_link": _time(
        "M/D/1 link, mean wait",
        "85 % of its bandwidth",
        _wait_ns(1, 0.85, SERVICE_NS, 0.0),
        lambda: runs.link_waits("m_d_1_link", 0.85, SERVICE_NS),
    ),
    "m_g_1_cpu": _time(
        "M/G/1 CPU, mean wait",
        "times as the model draws them (log-normal, cv 0.5), 80 % busy",
        _wait_ns(1, 0.8, SERVICE_NS, 0.5),
        lambda: runs.thread_pool_waits("m_g_1_cpu", 1, 0.8, LognormalMean(SERVICE_NS, 0.5)),
    ),
    "m_g_1_disk": _time(
        "M/G/1 disk, mean wait",
        "one writer, appends of the measured disk, 60 % busy",
        _wait_ns(1, 0.6, _MEAN_NS, _CV),
        lambda: runs.thread_pool_waits("m_g_1_disk", 1, 0.6, _APPEND),
    ),
    "quorum": _time(
        "quorum of three disks, mean",
        "exponential appends, until two are durable",
        formulas.order_statistic_mean(3, 2, SERVICE_NS),
        lambda: runs.quorum_times("quorum", Exponential(SERVICE_NS)),
    ),
    "closed_network": _rate(
        "closed network, throughput",
        f"{_CUSTOMERS} clients, two pools and a pause; exact mean value analysis",
        formulas.closed_network_rate(_DEMANDS_NS, _THINK_NS, _CUSTOMERS) * NS_PER_S,
        lambda: runs.closed_network_gaps("closed_network", _DEMANDS_NS, _THINK_NS, _CUSTOMERS),
    ),
    "littles_law": Queue(
        "Little's law",
        "M/M/4, 80 % busy: customers in the system over rate times stay",
        "",
        1.0,
        lambda: runs.littles_law("littles_law", 4, 0.8, Exponential(SERVICE_NS)),
        lambda ratio_ppb: ratio_ppb / 1e9,
    ),
    "no_queue": _time(
        "append without a queue, mean",
        "one writer at a time",
        _MEAN_NS,
        lambda: runs.append_times("no_queue", _APPEND),
    ),
}
