"""What sockperf prints: its list of percentiles, or the time of each message (--full-log).

Knows: what it calls latency is half a round trip, unless --full-rtt was given. Its percentiles are
far apart where the tail begins (p99, p99.9), so a straight line between two of them would have a
mean half as large again as the messages had; a power law through both (a straight line of
logarithms) is within 7 % in five runs over a pair of virtual links.

Source: sockperf README; its report and log of version 3.7.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from analysis.calibration.histogram import ascending
from analysis.calibration.network_profile import LONGEST_NS, NetworkPart, check_count, of_samples
from analysis.calibration.refusal import CalibrationError

_PARTS: Final = 4
"""Into how many the way from one percentile of the tail to the next is cut."""
_REMEDY: Final = "measure again with sockperf ping-pong --full-rtt -t 30"


def read_sockperf(path: Path, text: str) -> NetworkPart:
    """Returns what sockperf's report or log says.

    Raises:
        CalibrationError: if it has no round trips, or of several servers.
    """
    servers = len(re.findall(r"Printing statistics for Server No", text))
    if servers > 1:
        message = f"has the round trips to {servers} servers; measure one at a time"
        raise CalibrationError(path, "Server No", message)
    remarks = list(_loaded(text))
    if "rxTime" in text:
        return of_samples(path, "sockperf --full-log", _log(path, text), remarks)
    return _report(path, text, remarks)


def _loaded(text: str) -> list[str]:
    """Returns what speaks against a ping-pong: messages that waited for each other, or got lost."""
    said = []
    sent = re.search(
        r"\[Valid Duration\].*SentMessages=(\d{1,12}); ReceivedMessages=(\d{1,12})\b", text
    )
    if sent and int(sent[1]) > int(sent[2]) + 1:
        said.append(
            f"{int(sent[1]):,} messages for {int(sent[2]):,} answers is no ping-pong: the wait "
            "behind other messages is in it; " + _REMEDY
        )
    dropped = re.search(r"# dropped messages = (\d{1,12})\b", text)
    if dropped and int(dropped[1]):
        said.append(f"{int(dropped[1]):,} messages were lost, which the model does not do")
    return said


def _report(path: Path, text: str, remarks: Sequence[str]) -> NetworkPart:
    total = re.search(r"Total (\d{1,12}) observations", text)
    if total is None:
        raise CalibrationError(path, "", f"has no list of percentiles; {_REMEDY}")
    check_count(path, int(total[1]))
    whole = re.search(r"avg-rtt=|Round trip is", text) is not None
    # Half a round trip is what sockperf calls latency.
    factor = 1e3 if whole else 2e3
    known = {
        float(rank) / 100: float(value) * factor
        for rank, value in re.findall(
            r"percentile\s+([0-9]+\.?[0-9]*)\s*=\s*([0-9]+\.?[0-9]*)", text
        )
    }
    for name, rank in (("MIN", 0.0), ("MAX", 1.0)):
        end = re.search(rf"<{name}> observation\s*=\s*([0-9]+\.?[0-9]*)", text)
        if end is not None:
            known[rank] = float(end[1]) * factor
    values = [known[rank] for rank in sorted(known)]
    if len(known) < 3 or values != sorted(values) or values[-1] > LONGEST_NS or max(known) > 1:
        raise CalibrationError(path, "percentile", f"are missing or do not ascend; {_REMEDY}")
    said = list(remarks)
    if not whole:
        said.append("half round trips, doubled; --full-rtt measures whole ones")
    filled = _filled(known)
    quantiles = ascending((rank, round(filled[rank])) for rank in sorted(filled))
    return NetworkPart(path, "sockperf", int(total[1]), quantiles, remarks=tuple(said))


def _filled(known: Mapping[float, float]) -> dict[float, float]:
    """Returns percentiles with those of a power law between two of the upper half."""
    filled = dict(known)
    for low, high in pairwise(sorted(known)):
        if low < 0.5 or high == 1 or not known[low]:
            continue
        for part in (step / _PARTS for step in range(1, _PARTS)):
            rank = round(1 - (1 - low) ** (1 - part) * (1 - high) ** part, 7)
            filled[rank] = known[low] ** (1 - part) * known[high] ** part
    return filled


def _log(path: Path, text: str) -> list[float]:
    """Returns round trips in nanoseconds, from when each message left and its answer came."""
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
        except (KeyError, ValueError):
            continue
        if not 0 <= passed * 1e9 <= LONGEST_NS:
            message = f"is answered {passed:g} s after it was sent; remove the line"
            raise CalibrationError(path, f"line {number}", message)
        times.append(passed * 1e9)
    return times
