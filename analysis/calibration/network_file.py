"""What ping, sockperf and iperf3 print: round trips and bandwidth, or why they cannot be used.

Knows: ping of Linux, BusyBox and BSD, line by line or its summary; sockperf's report, which is half
a round trip unless --full-rtt was given, and its --full-log; iperf3's --json, whose round trips are
those of a connection under full load.

Source: iputils, ping(8); sockperf README; iperf3 documentation, "JSON output".
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from analysis.calibration.histogram import Pairs, ascending, from_bins
from analysis.calibration.refusal import CalibrationError, read_json, read_text

FEWEST: Final = 100
"""Round trips below which p99 rests on nothing."""
FOR_TAIL: Final = 1_000
"""Round trips below which p99.9 is unknown."""
_LONGEST_NS: Final = 60 * 10**9
_MOST: Final = 8e12
"""Bits per second."""

_ONE_PING = re.compile(r"(?:icmp_)?seq=\d+.*?\btime([=<])\s*([0-9.]+)\s*(\w*)")
_PINGS = re.compile(r"(?:rtt|round-trip) min/avg/max(?:/(mdev|stddev))? = ([0-9./]+)\s*(\w*)")
_LOSS = re.compile(r"([0-9.]+)% packet loss")
_SENT = re.compile(r"(\d+) packets transmitted, (\d+)")
_UNITS_NS: Final = {"us": 1e3, "usec": 1e3, "ms": 1e6, "s": 1e9, "sec": 1e9}


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


def read_network(path: Path) -> list[NetworkPart]:
    """Returns what a file says of a network.

    Raises:
        CalibrationError: if it is of no tool that is known, or cannot be used.
    """
    text = read_text(path)
    if text.lstrip().startswith("{"):
        return [_iperf3(path)]
    if "sockperf" in text or re.search(r"txTime.*rxTime", text):
        return [_sockperf_log(path, text) if "rxTime" in text else _sockperf(path, text)]
    if _ONE_PING.search(text) or _PINGS.search(text):
        return [_ping(path, text)]
    mend = "give the output of ping, sockperf, or iperf3 --json"
    raise CalibrationError(path, "", f"has no round trips; {mend}")


def _ping(path: Path, text: str) -> NetworkPart:
    lost = _LOSS.search(text)
    remarks = []
    if lost and float(lost[1]) > 0:
        remarks.append(f"{lost[1]} % of the pings were lost, which the model does not do")
    times = []
    for sign, number, unit in _ONE_PING.findall(text):
        if sign == "<":
            raise CalibrationError(path, f"time<{number}", "is no figure; use ping of Linux")
        times.append(_ns(path, "time", number, unit))
    if times:
        return _of_samples(path, "ping", times, remarks)
    found = _PINGS.search(text)
    assert found is not None, "read_network looked for it"
    numbers = [_ns(path, "summary", part, found[3]) for part in found[2].split("/")]
    if found[1] is None or len(numbers) != 4:
        raise CalibrationError(path, "summary", "has no deviation; keep the lines of each ping")
    low, mean, high, deviation = numbers
    sent = _SENT.search(text)
    count = int(sent[2]) if sent else 0
    _check_count(path, count)
    if not 0 < low <= mean <= high:
        raise CalibrationError(path, "summary", "needs 0 < min <= avg <= max; ping again")
    remarks.append("a summary only: its tail is a guess; keep the lines of each ping")
    return NetworkPart(
        path, "ping", count, mean_ns=mean, deviation_ns=deviation, remarks=tuple(remarks)
    )


def _ns(path: Path, place: str, number: str, unit: str) -> float:
    factor = _UNITS_NS.get(unit)
    if factor is None:
        raise CalibrationError(path, place, f"has the unit {unit[:9]!r}; us, ms and s are known")
    try:
        value = float(number) * factor
    except ValueError:
        raise CalibrationError(path, place, f"{number[:20]!r} is no number; ping again") from None
    if not 0 <= value <= _LONGEST_NS:
        raise CalibrationError(path, place, f"{number[:20]} {unit} cannot be; ping again")
    return value


def _check_count(path: Path, count: int) -> None:
    if count < FEWEST:
        mend = f"measure {FOR_TAIL:,} or more, such as ping -c 10000 -i 0.002"
        raise CalibrationError(path, "", f"{count} round trips are too few for a tail; {mend}")


def _of_samples(
    path: Path, tool: str, times_ns: Sequence[float], remarks: Iterable[str]
) -> NetworkPart:
    _check_count(path, len(times_ns))
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


def _sockperf(path: Path, text: str) -> NetworkPart:
    total = re.search(r"Total (\d+) observations", text)
    if total is None:
        mend = "let it end by itself: sockperf ping-pong --full-rtt -t 30"
        raise CalibrationError(path, "", f"has no list of percentiles; {mend}")
    _check_count(path, int(total[1]))
    whole = re.search(r"avg-rtt=|Round trip is", text) is not None
    # Half a round trip is what sockperf calls latency.
    factor = 1e3 if whole else 2e3
    known = {
        float(rank) / 100: float(value) * factor
        for rank, value in re.findall(r"percentile\s+([0-9.]+)\s*=\s*([0-9.]+)", text)
    }
    for name, rank in (("MIN", 0.0), ("MAX", 1.0)):
        end = re.search(rf"<{name}> observation\s*=\s*([0-9.]+)", text)
        if end is not None:
            known[rank] = float(end[1]) * factor
    values = [known[rank] for rank in sorted(known)]
    if len(known) < 3 or values != sorted(values) or values[-1] > _LONGEST_NS:
        raise CalibrationError(path, "percentile", "are missing or do not ascend; measure again")
    remarks = [] if whole else ["half round trips, doubled; --full-rtt measures whole ones"]
    quantiles = ascending((rank, round(known[rank])) for rank in sorted(known))
    return NetworkPart(path, "sockperf", int(total[1]), quantiles, remarks=tuple(remarks))


def _sockperf_log(path: Path, text: str) -> NetworkPart:
    """Returns what --full-log says: the time of each message and of its answer, in seconds."""
    columns: list[str] | None = None
    times = []
    for number, line in enumerate(text.splitlines(), start=1):
        cells = [cell.strip() for cell in line.split(",")]
        if columns is None:
            if any(cell.startswith("rxTime") for cell in cells):
                columns = [re.sub(r"\W.*", "", cell) for cell in cells]
            continue
        if len(cells) != len(columns) or not line.strip():
            continue
        row = dict(zip(columns, cells, strict=True))
        try:
            passed = float(row["rxTime"]) - float(row["txTime"])
        except ValueError:
            continue
        if not 0 <= passed * 1e9 <= _LONGEST_NS:
            raise CalibrationError(path, f"line {number}", "is answered before it is sent; remove")
        times.append(passed * 1e9)
    return _of_samples(path, "sockperf --full-log", times, ())


def _iperf3(path: Path) -> NetworkPart:
    document = read_json(path, "give the output of iperf3 --json")
    if document.get("error"):
        message = f"failed: {str(document['error'])[:80]!r}; run iperf3 again"
        raise CalibrationError(path, "error", message)
    end = document.get("end")
    if not isinstance(end, dict):
        raise CalibrationError(path, "end", "missing, no file of iperf3; use iperf3 --json")
    received = end.get("sum_received") or end.get("sum") or {}
    bits = _figure(path, "end.sum_received", received, "bits_per_second")
    if bits <= 0:
        raise CalibrationError(path, "end.sum_received.bits_per_second", "is 0; run it longer")
    streams = end.get("streams")
    each = (
        [s.get("sender") for s in streams if isinstance(s, dict)]
        if isinstance(streams, list)
        else []
    )
    senders = [sender for sender in each if isinstance(sender, dict)]
    low, mean, high = (
        [_figure(path, "end.streams.sender", sender, key) for sender in senders if sender.get(key)]
        for key in ("min_rtt", "mean_rtt", "max_rtt")
    )
    remarks = ["its round trips are those of a full link, not of a request; ping as well"]
    if not (low and mean and high):
        return NetworkPart(path, "iperf3", 0, bytes_per_s=bits / 8)
    ends = (min(low), sum(mean) / len(mean), max(high))
    if not 0 < ends[0] <= ends[1] <= ends[2] <= _LONGEST_NS / 1000:
        raise CalibrationError(path, "end.streams.sender", "needs min_rtt <= mean_rtt <= max_rtt")
    quantiles = tuple(zip((0.0, 0.5, 1.0), (round(us * 1000) for us in ends), strict=True))
    return NetworkPart(
        path, "iperf3", len(senders), quantiles, bytes_per_s=bits / 8, remarks=tuple(remarks)
    )


def _figure(path: Path, place: str, found: Any, name: str) -> float:
    value = found.get(name) if isinstance(found, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise CalibrationError(path, f"{place}.{name}", "is no number; use iperf3 --json")
    if not 0 <= value <= _MOST:
        raise CalibrationError(path, f"{place}.{name}", f"is {value:g}, which cannot be")
    return float(value)
