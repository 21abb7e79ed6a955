"""Conservation: disk bytes by cause against the disks' own count, transactions, Little's law."""

from collections.abc import Iterable
from typing import Protocol

from sim.client.client_stats import Population
from sim.hardware.disk import Disk
from sim.raftstore.disk_bytes import DiskBytes
from sim.record.recorder import Counter


class Ended(Protocol):
    """What clients have counted of their transactions, or puts."""

    started: Counter
    population: Population
    stays_ns: int

    def total_ended(self) -> int:
        """Returns how many have ended so far, however they did."""


def broken_conservation(
    disks: Iterable[Disk], ledger: DiskBytes, stats: Ended, now_ns: int
) -> list[str]:
    """Returns a line for each check, empty where it holds: else it says which figures disagree."""
    written = sum(disk.written_bytes for disk in {id(disk): disk for disk in disks}.values())
    explained = ledger.total()
    ended, present, started = stats.total_ended(), stats.population.present, stats.started.value
    area_ns = stats.population.area_ns(now_ns)
    stays_ns = stats.stays_ns + stats.population.unfinished_ns(now_ns)
    return [
        ""
        if written == explained
        else f"disks wrote {written} bytes, but places and causes sum to {explained}",
        ""
        if ended + present == started
        else f"{ended} transactions ended and {present} run, but {started} were started",
        ""
        if area_ns == stays_ns
        else f"Little's law: those in the system sum to {area_ns} ns, the stays to {stays_ns} ns",
    ]
