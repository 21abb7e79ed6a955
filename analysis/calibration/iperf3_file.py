"""What ``iperf3 --json`` writes: the bandwidth of a link, and round trips while it is full.

Knows: with a rate asked for (-b, and UDP always has one) it measures that rate, not the link; with
--bidir two directions share the processors; a receiver (-R) knows no round trips.

Source: iperf3 documentation, "JSON output"; output of iperf 3.12.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from analysis.calibration.histogram import Pairs
from analysis.calibration.network_profile import IPERF3, LONGEST_NS, NetworkPart
from analysis.calibration.refusal import JsonValue, read_json

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
    error, end = document["error"], document["end"]
    if error.value:
        raise error.refusal(f"failed: {str(error.value)[:80]!r}; run iperf3 again")
    if not isinstance(end.value, dict):
        other = "a file of fio: calibrate disk" if "fio version" in document.entries else ""
        raise end.refusal(f"missing, not a file of iperf3; {other or 'use iperf3 --json'}")
    received = end["sum_received"] if end["sum_received"].value else end["sum"]
    bits = received["bits_per_second"].number(_MOST)
    if bits <= 0:
        raise received["bits_per_second"].refusal("is 0; run it longer")
    asked = _asked(document)
    limited = bits >= _REACHED * asked > 0
    remarks = _remarks(received, end, bits, asked if limited else 0.0)
    quantiles, streams = _round_trips(end)
    rate = 0.0 if limited else bits / 8
    return NetworkPart(path, IPERF3, streams, quantiles, bytes_per_s=rate, remarks=tuple(remarks))


def _asked(document: JsonValue) -> float:
    """Returns the bits per second that all streams together were asked to send; 0: no limit."""
    test = document["start"]["test_start"].entries
    rate, streams = test.get("target_bitrate"), test.get("num_streams", 1)
    numbers = (int, float)
    if not isinstance(rate, numbers) or not isinstance(streams, numbers):
        return 0.0
    return float(rate * streams) if 0 < rate * streams <= _MOST else 0.0


def _remarks(received: JsonValue, end: JsonValue, bits: float, limit: float) -> Iterator[str]:
    """Yields what speaks against a run; ``limit``: what it was held to, 0 if nothing did."""
    if limit:
        yield (
            f"sent the {limit / 1e6:,.0f} Mbit/s that it was asked for, so it says nothing of the "
            "bandwidth; run TCP without -b"
        )
    lost = received["lost_percent"].value
    if isinstance(lost, int | float) and lost > _LOST_PERCENT:
        yield f"{lost:.0f} % of the datagrams were lost; what arrived is taken: run TCP instead"
    back = end["sum_received_bidir_reverse"]["bits_per_second"].value
    if isinstance(back, int | float):
        yield (
            f"{bits / 1e9:.2f} Gbit/s there and {back / 1e9:.2f} back at the same time hold each "
            "other up; run it without --bidir"
        )


def _round_trips(end: JsonValue) -> tuple[Pairs, int]:
    """Returns least, mean and most of all streams, and how many streams know them."""
    senders = [stream["sender"] for stream in end["streams"].elements]
    low, mean, high = (
        [sender[key].number(_MOST) for sender in senders if sender[key].value]
        for key in ("min_rtt", "mean_rtt", "max_rtt")
    )
    if not (low and mean and high):
        return (), 0
    ends = (min(low), sum(mean) / len(mean), max(high))
    if not 0 < ends[0] <= ends[1] <= ends[2] <= LONGEST_NS / 1000:
        raise senders[0].refusal("needs min_rtt <= mean_rtt <= max_rtt; run it again")
    ranks = (0.0, 0.5, 1.0)
    return tuple(zip(ranks, (round(us * 1000) for us in ends), strict=True)), len(mean)
