"""What ping, sockperf and iperf3 print: round trips and bandwidth, or why they cannot be used.

Knows ping of Linux, BusyBox and BSD, line by line or its summary; sockperf has a module of its own.
A file is of one way: two hosts pinged one after the other would make a mixture of both.

Of iperf3 it knows: with a rate asked for (-b, and UDP always has one) it measures that rate, not
the link; with --bidir two directions share the processors; a receiver (-R) knows no round trips.

Source: iputils, ping(8); iperf3 documentation, "JSON output"; output of iperf 3.12.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from analysis.calibration.histogram import Pairs
from analysis.calibration.network_profile import (
    IPERF3,
    LONGEST_NS,
    NetworkPart,
    check_count,
    of_samples,
)
from analysis.calibration.refusal import CalibrationError, JsonValue, has_json, read_json, read_text
from analysis.calibration.sockperf_file import read_sockperf

_ONE_PING = re.compile(
    r"(?:icmp_)?seq=\d+(?:.*?\btime|\s+(?:ttl|hlim)=\d+\s+[^\W\d_]+)"
    r"([=<])\s*([0-9.]+)\s*(\w*)(.*)"
)
"""After ttl stands the word for time, in any language."""
_OF_WINDOWS = re.compile(r"[=<]\s*\d+\s*ms TTL=")
_PINGS = re.compile(r"(?:rtt|round-trip) min/avg/max(?:/(mdev|std-?dev))? = ([0-9./]+)\s*(\w*)")
_HOST = re.compile(r"^PING6?\b.*?(?:--> |\((?=[0-9a-fA-F:.%\w]+\)))([^\s()]+)", re.MULTILINE)
_LOSS = re.compile(r"(\d+(?:\.\d+)?)% packet loss")
_LOST = re.compile(r", (\d+(?:\.\d+)?) ?% ")
"""The same in any language."""
_SENT = re.compile(r"\b(\d{1,12}) packets transmitted, (\d{1,12})\b")
_UNITS_NS: Final = {"us": 1e3, "usec": 1e3, "ms": 1e6, "s": 1e9, "sec": 1e9}


def read_networks(files: Iterable[Path]) -> list[NetworkPart]:
    """Returns what files of ping, sockperf or iperf3 say of a network, each once.

    Raises:
        CalibrationError: if one cannot be used.
    """
    return [part for file in dict.fromkeys(files) for part in read_network(file)]


def read_network(path: Path) -> list[NetworkPart]:
    """Returns what a file says of a network.

    Raises:
        CalibrationError: if it is of no tool that is known, or cannot be used.
    """
    text = read_text(path)
    if has_json(text):
        return [read_iperf3(path)]
    if "sockperf" in text or re.search(r"txTime.*rxTime", text):
        return [read_sockperf(path, text)]
    if _ONE_PING.search(text) or _PINGS.search(text):
        return [_ping(path, text)]
    if _OF_WINDOWS.search(text):
        message = (
            "is ping of Windows, which counts whole milliseconds; use sockperf, or ping of Linux"
        )
        raise CalibrationError(path, "", message)
    lost = _LOSS.search(text)
    if lost is not None and float(lost[1]) > 0:
        message = f"no ping was answered ({lost[1]} % lost); check the address and ping again"
        raise CalibrationError(path, "", message)
    if "ping: " in text:
        said = text[text.index("ping: ") :].splitlines()[0][:80]
        raise CalibrationError(path, "", f"ping failed: {said!r}; fix it and ping again")
    if "iperf" in text:
        raise CalibrationError(path, "", "is iperf3's text; write iperf3 --json -c HOST")
    remedy = "give the output of ping, sockperf, or iperf3 --json"
    raise CalibrationError(path, "", f"has no round trips; {remedy}")


def _ping(path: Path, text: str) -> NetworkPart:
    hosts = sorted(set(_HOST.findall(text)))
    if len(hosts) > 1:
        message = f"has the round trips to {', '.join(hosts[:3])}; give each host's file on its own"
        raise CalibrationError(path, "PING", message)
    remarks = [
        f"{lost} % of the pings were lost, which the model does not do"
        for lost in _LOST.findall(text)
        if float(lost) > 0
    ]
    times = _times(path, text)
    return of_samples(path, "ping", times, remarks) if times else _summary(path, text, remarks)


def _times(path: Path, text: str) -> list[float]:
    """Returns the round trip of every line, in nanoseconds; an answer that came twice once."""
    times = []
    for sign, number, unit, rest in _ONE_PING.findall(text):
        if sign == "<":
            raise CalibrationError(path, f"time<{number}", "is not a number; use ping of Linux")
        if "DUP!" not in rest:
            times.append(_ns(path, "time", number, unit))
    if 0 in times:
        raise CalibrationError(path, "time", "is 0, too coarse a clock; use ping of Linux")
    return times


def _summary(path: Path, text: str, remarks: Sequence[str]) -> NetworkPart:
    found = _PINGS.search(text)
    assert found is not None, "read_network looked for it"
    numbers = [_ns(path, "summary", part, found[3]) for part in found[2].split("/")]
    if found[1] is None or len(numbers) != 4:
        raise CalibrationError(path, "summary", "has no deviation; keep the lines of each ping")
    low, mean, high, deviation = numbers
    sent = _SENT.search(text)
    count = int(sent[2]) if sent else 0
    check_count(path, count)
    if not 0 < low <= mean <= high:
        raise CalibrationError(path, "summary", "needs 0 < min <= avg <= max; ping again")
    said = (*remarks, "a summary only: its tail is a guess; keep the lines of each ping")
    return NetworkPart(path, "ping", count, mean_ns=mean, deviation_ns=deviation, remarks=said)


def _ns(path: Path, place: str, number: str, unit: str) -> float:
    factor = _UNITS_NS.get(unit)
    if factor is None:
        message = f"has the unit {unit[:9]!r}; us, ms and s are known: run LC_ALL=C ping"
        raise CalibrationError(path, place, message)
    try:
        value = float(number) * factor
    except ValueError:
        raise CalibrationError(
            path, place, f"{number[:20]!r} is not a number; ping again"
        ) from None
    if not 0 <= value <= LONGEST_NS:
        raise CalibrationError(path, place, f"{number[:20]} {unit} cannot be; ping again")
    return value


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
