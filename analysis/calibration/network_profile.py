"""A network's profile as YAML: round trips inside a zone, and the bandwidth of a port."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from analysis.calibration.histogram import at_rank
from analysis.calibration.network_file import NetworkPart
from analysis.calibration.profile_text import plain, quoted, shape_lines
from analysis.calibration.refusal import CalibrationError
from sim.scenario.quantities import BANDWIDTH, DURATION

_ORDER: Final = ("sockperf --full-log", "sockperf", "ping", "iperf3")
"""Whose round trips are taken first: those of a small request through sockets, then the rest."""
_TOLD: Final = (0.1, 0.5, 0.9, 0.99, 0.999)
_LEAST_BYTES_PER_S: Final = 100_000


@dataclass(frozen=True, slots=True)
class NetworkProfile:
    """A network as a scenario describes it, and what is to be told of it."""

    text: str
    document: dict[str, Any]
    lines: tuple[str, ...]


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
    body = [
        f"# Network {name}. For a scenario: paste it there, or write  extends: FILE",
        "# Round trips between nodes of one zone; measured between zones they are cross_zone.",
        *(f"# {plain(part.path.name)}: {part.tool}{_gives(part, rtt)}" for part in used),
        "",
        "hardware:",
        "  network:",
        f"    source: {quoted(plain(f'{rtt.tool}, {rtt.path.name}'))}",
        f"    assumed: [{'' if bandwidth else 'bandwidth'}]",
        *_round_trip(rtt),
    ]
    if bandwidth:
        whole = max(_LEAST_BYTES_PER_S, int(float(f"{bandwidth:.3g}")))
        body.append(f"    bandwidth: {BANDWIDTH.text_of(whole)}")
    document = {
        "files": [str(part.path) for part in parts],
        "round_trips": rtt.count,
        "round_trip_us": {f"p{rank * 100:g}": us for rank, us in _told(rtt)},
        "bytes_per_s": bandwidth,
        "remarks": list(lines),
    }
    return NetworkProfile("\n".join(body) + "\n", document, lines)


def _gives(part: NetworkPart, rtt: NetworkPart) -> str:
    return f", {part.count:,} round trips" if part is rtt else ", bandwidth"


def _round_trip(part: NetworkPart) -> list[str]:
    if part.quantiles:
        return shape_lines("same_zone", part.quantiles, 4)
    mean, cv = round(part.mean_ns), round(part.deviation_ns / part.mean_ns, 3)
    return [f"    same_zone: {{mean: {DURATION.text_of(mean)}, cv: {cv}}}"]


def _told(part: NetworkPart) -> list[tuple[float, float]]:
    if not part.quantiles:
        return []
    return [(rank, at_rank(part.quantiles, rank) / 1000) for rank in _TOLD]


def _lines(parts: Sequence[NetworkPart], rtt: NetworkPart, bandwidth: float) -> tuple[str, ...]:
    told = ", ".join(f"p{rank * 100:g} {us:,.1f}" for rank, us in _told(rtt))
    mean = f"mean {rtt.mean_ns / 1000:,.1f}, deviation {rtt.deviation_ns / 1000:,.1f}"
    lines = [f"round trip of {plain(rtt.path.name)} ({rtt.tool}), us: {told or mean}"]
    if bandwidth:
        lines.append(f"bandwidth: {bandwidth * 8 / 1e9:.2f} Gbit/s")
    else:
        lines.append("bandwidth: not measured, 10 Gbit/s is assumed; run iperf3 --json")
    for part in parts:
        if part is rtt:
            lines += [f"{plain(part.path.name)}: {remark}" for remark in part.remarks]
        elif part.count and not part.bytes_per_s:
            lines.append(f"{plain(part.path.name)}: not used, {rtt.tool} comes first")
    return tuple(lines)
