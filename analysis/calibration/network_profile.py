"""A network: what one file says of it, and the profile of several as YAML.

That is round trips inside a zone, and the bandwidth of a port.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from analysis.calibration.histogram import Pairs, at_rank, from_bins
from analysis.calibration.profile_text import Part, file_text, plain, shape
from analysis.calibration.refusal import CalibrationError
from analysis.study.interpolation import rounded
from sim.scenario.quantities import BANDWIDTH, DURATION

IPERF3: Final = "iperf3"
_ORDER: Final = ("sockperf --full-log", "sockperf", "ping", IPERF3)
"""Whose round trips are taken first: those of a small request through sockets, then the rest."""
_TOLD: Final = (0.1, 0.5, 0.9, 0.99, 0.999)
_LEAST_BYTES_PER_S: Final = 100_000

FEWEST: Final = 100
"""Round trips below which p99 rests on nothing."""
FOR_TAIL: Final = 1_000
"""Round trips below which p99.9 is unknown."""
LONGEST_NS: Final = 60 * 10**9


@dataclass(frozen=True, slots=True)
class NetworkPart:
    """What one file says of a network."""

    path: Path
    tool: str
    count: int
    """Round trips that were measured; 0: none."""
    quantiles: Pairs = ()
    mean_ns: float = 0.0
    """Of a round trip, where only this and the deviation are known."""
    deviation_ns: float = 0.0
    bytes_per_s: float = 0.0
    remarks: tuple[str, ...] = ()


def check_count(path: Path, count: int) -> None:
    """Refuses what is too little.

    Raises:
        CalibrationError: if p99 would rest on nothing.
    """
    if count < FEWEST:
        remedy = f"measure {FOR_TAIL:,} or more, such as ping -c 10000 -i 0.002"
        raise CalibrationError(path, "", f"{count} round trips are too few for a tail; {remedy}")


def of_samples(
    path: Path, tool: str, times_ns: Sequence[float], remarks: Iterable[str]
) -> NetworkPart:
    """Returns what single round trips say.

    Raises:
        CalibrationError: if they are too few.
    """
    check_count(path, len(times_ns))
    said = list(remarks)
    if len(times_ns) < FOR_TAIL:
        said.append(f"{len(times_ns)} round trips say nothing of p99.9; measure {FOR_TAIL:,}")
    whole = [round(time) for time in times_ns]
    mean = sum(whole) / len(whole)
    histogram = from_bins(Counter(whole), mean, min(whole), max(whole))
    known = tuple(
        (rank, ns) for rank, ns in histogram.pairs() if rank == 1 or (1 - rank) * len(whole) >= 1
    )
    return NetworkPart(path, tool, len(whole), known, mean, remarks=tuple(said))


@dataclass(frozen=True, slots=True)
class NetworkProfile:
    """A network as a scenario describes it, and remarks about it."""

    name: str
    part: Part
    document: dict[str, Any]
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The profile as a file that a scenario can extend."""
        head = f"Network {self.name}. For a scenario: paste it there, or write  extends: FILE"
        return file_text([head], [self.part])


def network_of(parts: Sequence[NetworkPart], name: str) -> NetworkProfile:
    """Returns the profile of a network that several tools measured.

    Raises:
        CalibrationError: if nothing says how long a round trip takes.
    """
    timed = sorted((part for part in parts if part.count), key=lambda p: _ORDER.index(p.tool))
    if not timed:
        message = "says nothing of round trips; give the output of ping or sockperf as well"
        raise CalibrationError(parts[0].path, "", message)
    rtt = timed[0]
    bandwidth = max((part.bytes_per_s for part in parts), default=0.0)
    lines = _lines(parts, rtt, bandwidth)
    used = [part for part in parts if part is rtt or part.bytes_per_s]
    said = (
        "Round trips between nodes of one zone; measured between zones they are cross_zone.",
        *(f"{part.path.name}: {part.tool}{_gives(part, rtt)}" for part in used),
    )
    network = {
        "source": plain(f"{rtt.tool}, {rtt.path.name}"),
        "assumed": _assumed(rtt, bandwidth),
        "same_zone": _round_trip(rtt),
    }
    if bandwidth:
        whole = max(_LEAST_BYTES_PER_S, int(rounded(bandwidth, 3)))
        network["bandwidth"] = BANDWIDTH.text_of(whole)
    document = {
        "files": [str(part.path) for part in parts],
        "round_trips": rtt.count,
        "round_trip_us": {f"p{rank * 100:g}": us for rank, us in _told(rtt)},
        "bytes_per_s": bandwidth,
        "remarks": list(lines),
    }
    return NetworkProfile(name, Part("hardware", said, {"network": network}), document, lines)


def _assumed(rtt: NetworkPart, bandwidth: float) -> list[str]:
    assumed = [] if bandwidth else ["bandwidth"]
    # Least, mean and most on a full link: neither a request's, nor its quantiles.
    return [*assumed, "same_zone"] if rtt.tool == IPERF3 else assumed


def _gives(part: NetworkPart, rtt: NetworkPart) -> str:
    return f", {part.count:,} round trips" if part is rtt else ", bandwidth"


def _round_trip(part: NetworkPart) -> dict[str, Any]:
    if part.quantiles:
        return shape(part.quantiles)
    cv = round(part.deviation_ns / part.mean_ns, 3)
    return {"mean": DURATION.text_of(round(part.mean_ns)), "cv": cv}


def _told(part: NetworkPart) -> list[tuple[float, float]]:
    if not part.quantiles:
        return []
    if part.tool == IPERF3:
        return [(rank, ns / 1000) for rank, ns in part.quantiles]
    known = [rank for rank in _TOLD if (1 - rank) * part.count >= 1]
    return [(rank, at_rank(part.quantiles, rank) / 1000) for rank in known]


def _lines(parts: Sequence[NetworkPart], rtt: NetworkPart, bandwidth: float) -> tuple[str, ...]:
    told = ", ".join(f"p{rank * 100:g} {us:,.1f}" for rank, us in _told(rtt))
    if rtt.tool == IPERF3:
        least, mean, most = (us for _, us in _told(rtt))
        told = f"least {least:,.1f}, mean {mean:,.1f}, most {most:,.1f}"
    mean_and_more = f"mean {rtt.mean_ns / 1000:,.1f}, deviation {rtt.deviation_ns / 1000:,.1f}"
    head = f"round trip of {plain(rtt.path.name)} ({rtt.tool}), us: "
    lines = [head + (told or mean_and_more)]
    if bandwidth:
        lines.append(f"bandwidth: {bandwidth * 8 / 1e9:.2f} Gbit/s")
    else:
        lines.append("bandwidth: not measured, 10 Gbit/s is assumed; run iperf3 --json")
    if rtt.tool == IPERF3:
        lines.append("its round trips are iperf3's, of a busy link, not of a request; ping as well")
    for part in parts:
        if part is rtt or part.tool == IPERF3:
            lines += [f"{plain(part.path.name)}: {remark}" for remark in part.remarks]
        elif part.count and not part.bytes_per_s:
            lines.append(f"{plain(part.path.name)}: not used, {rtt.tool} comes first")
    return tuple(lines)
