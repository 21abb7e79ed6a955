"""What one file says of a network: its round trips, or what is known of them, and its bandwidth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from analysis.calibration.histogram import Pairs, from_bins
from analysis.calibration.refusal import CalibrationError

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
