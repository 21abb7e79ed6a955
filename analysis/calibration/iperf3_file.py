"""What ``iperf3 --json`` writes: the bandwidth of a link, and round trips while it is full.

Knows: with a rate asked for (-b, and UDP always has one) it measures that rate, not the link; with
--bidir two directions share the processors; a receiver (-R) knows no round trips.

Source: iperf3 documentation, "JSON output"; output of iperf 3.12.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from analysis.calibration.fio_latency import mapping
from analysis.calibration.histogram import Pairs
from analysis.calibration.network_part import LONGEST_NS, NetworkPart
from analysis.calibration.refusal import CalibrationError, read_json

TOOL: Final = "iperf3"
_MOST: Final = 8e12
"""Bits per second."""
_REACHED: Final = 0.9
"""Part of the rate asked for from which on the rate was the limit, and not the link."""
_LOST_PERCENT: Final = 1.0


def read_iperf3(path: Path) -> NetworkPart:
    """Returns what a file of iperf3 says.

    Raises:
        CalibrationError: if it is none, or of a run that failed.
    """
    document = read_json(path, "give the output of iperf3 --json")
    if document.get("error"):
        message = f"failed: {str(document['error'])[:80]!r}; run iperf3 again"
        raise CalibrationError(path, "error", message)
    end = document.get("end")
    if not isinstance(end, dict):
        other = "a file of fio: calibrate disk" if "fio version" in document else ""
        message = f"missing, no file of iperf3; {other or 'use iperf3 --json'}"
        raise CalibrationError(path, "end", message)
    received = end.get("sum_received") or end.get("sum") or {}
    bits = _figure(path, "end.sum_received", received, "bits_per_second")
    if bits <= 0:
        raise CalibrationError(path, "end.sum_received.bits_per_second", "is 0; run it longer")
    asked = _asked(document)
    limited = bits >= _REACHED * asked > 0
    remarks = _remarks(end, bits, asked, limited=limited)
    quantiles, streams = _round_trips(path, end)
    rate = 0.0 if limited else bits / 8
    return NetworkPart(path, TOOL, streams, quantiles, bytes_per_s=rate, remarks=tuple(remarks))


def _asked(document: Mapping[str, Any]) -> float:
    """Returns the bits per second that all streams together were asked to send; 0: no limit."""
    test = mapping(mapping(document.get("start")).get("test_start"))
    rate, streams = test.get("target_bitrate"), test.get("num_streams", 1)
    numbers = (int, float)
    if not isinstance(rate, numbers) or not isinstance(streams, numbers):
        return 0.0
    return float(rate * streams) if 0 < rate * streams <= _MOST else 0.0


def _remarks(end: Mapping[str, Any], bits: float, asked: float, *, limited: bool) -> Iterator[str]:
    if limited:
        yield (
            f"sent the {asked / 1e6:,.0f} Mbit/s that it was asked for, so it says nothing of the "
            "bandwidth; run TCP without -b"
        )
    lost = mapping(end.get("sum_received") or end.get("sum")).get("lost_percent")
    if isinstance(lost, int | float) and lost > _LOST_PERCENT:
        yield f"{lost:.0f} % of the datagrams were lost; what arrived is taken: run TCP instead"
    back = mapping(end.get("sum_received_bidir_reverse")).get("bits_per_second")
    if isinstance(back, int | float):
        yield (
            f"{bits / 1e9:.2f} Gbit/s there and {back / 1e9:.2f} back at the same time hold each "
            "other up; run it without --bidir"
        )


def _round_trips(path: Path, end: Mapping[str, Any]) -> tuple[Pairs, int]:
    """Returns least, mean and most of all streams, and how many streams know them."""
    streams = end.get("streams")
    each = [mapping(s).get("sender") for s in streams] if isinstance(streams, list) else []
    senders = [sender for sender in each if isinstance(sender, dict)]
    low, mean, high = (
        [_figure(path, "end.streams.sender", sender, key) for sender in senders if sender.get(key)]
        for key in ("min_rtt", "mean_rtt", "max_rtt")
    )
    if not (low and mean and high):
        return (), 0
    ends = (min(low), sum(mean) / len(mean), max(high))
    if not 0 < ends[0] <= ends[1] <= ends[2] <= LONGEST_NS / 1000:
        raise CalibrationError(
            path, "end.streams.sender", "needs min_rtt <= mean_rtt <= max_rtt; run it again"
        )
    ranks = (0.0, 0.5, 1.0)
    return tuple(zip(ranks, (round(us * 1000) for us in ends), strict=True)), len(mean)


def _figure(path: Path, place: str, found: Any, name: str) -> float:
    value = found.get(name) if isinstance(found, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise CalibrationError(path, f"{place}.{name}", "is not a number; use iperf3 --json")
    if not 0 <= value <= _MOST:
        message = f"is {value:g}, which cannot be; run iperf3 again"
        raise CalibrationError(path, f"{place}.{name}", message)
    return float(value)
