"""A disk's profile as YAML: part of a scenario, with where each figure is from."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.calibration.disk_company import Crowded
from analysis.calibration.disk_profile import DiskProfile
from analysis.calibration.fio_file import FioRun
from analysis.calibration.histogram import Pairs
from sim.scenario.quantities import BANDWIDTH, DURATION, SIZE

_WIDTH = 98


def yaml_of(profile: DiskProfile) -> str:
    """Returns the profile as a file that a scenario can extend."""
    head = [
        f"# Disk {profile.name}: {profile.pattern} file. For hardware.disk.raft of a scenario:",
        "# paste it there, or lay this file beside the scenario and write  extends: FILE",
        "#",
        *(f"# {line}" for line in _sources(profile.runs)),
        "",
    ]
    body = [
        "hardware:",
        "  disk:",
        "    raft:",
        f"      name: {quoted(profile.name)}",
        f"      source: {quoted(_source(profile))}",
        f"      assumed: [{', '.join(profile.assumed)}]",
        f"      write_bandwidth: {BANDWIDTH.text_of(profile.bytes_per_s)}",
        f"      write_iops: {profile.iops}",
        *shape_lines("append", profile.append, 6),
    ]
    if profile.longer:
        body.append("      longer:")
        for size_bytes, pairs in profile.longer.items():
            body.append(f"        - size: {SIZE.text_of(size_bytes)}")
            body += shape_lines("latency", pairs, 10)
    if profile.crowded is not None:
        body += _crowding("crowding", profile.crowded)
    if profile.fetch is not None:
        body += shape_lines("fetch", profile.fetch, 6)
    if profile.fetch_crowded is not None:
        body += _crowding("fetch_crowding", profile.fetch_crowded)
    return "\n".join([*head, *body]) + "\n"


def _sources(runs: Iterable[FioRun]) -> list[str]:
    lines = []
    for run in runs:
        said = " ".join(f"{key}={run.options[key]}" for key in _TOLD if key in run.options)
        lines.append(plain(f"{run.path.name}: {run.version}, {run.date}"))
        lines.append(plain(f"  {said}"))
    return lines


_TOLD = (
    "rw", "bs", "direct", "fdatasync", "fsync", "fallocate", "overwrite", "size", "numjobs",
    "iodepth", "ioengine", "runtime",
)  # fmt: skip


def _source(profile: DiskProfile) -> str:
    first = profile.runs[0]
    return plain(f"fio, {len(profile.runs)} runs, {first.version}, {first.date}")


def plain(text: str) -> str:
    """Returns text of a file as one line of printable characters."""
    return "".join(each if each.isprintable() else "?" for each in text)[:200]


def quoted(text: str) -> str:
    """Returns text as YAML's plainest string."""
    return "'" + text.replace("'", "''") + "'"


def _crowding(key: str, crowded: Crowded) -> list[str]:
    lines = [f"      {key}:", "        levels:"]
    for number, pairs in crowded.levels.items():
        lines.append(f"          - in_flight: {number}")
        lines += shape_lines("latency", pairs, 12)
    lines.append(f"          # Not measured: {crowded.beyond}, and further; between bounds.")
    lines.append(f"          - in_flight: {crowded.beyond}")
    lines += shape_lines("latency", crowded.then, 12)
    return [*lines, *shape_lines("further", crowded.further, 8)]


def shape_lines(key: str, pairs: Pairs, indent: int) -> list[str]:
    """Returns ``key: {quantiles: [...]}`` over as many lines as it takes."""
    space = " " * indent
    lines, line = [f"{space}{key}:", f"{space}  quantiles:"], f"{space}    ["
    for place, (rank, ns) in enumerate(pairs):
        text = f"[{rank:g}, {DURATION.text_of(ns)}]" + ("," if place < len(pairs) - 1 else "]")
        if len(line) + len(text) + 1 > _WIDTH:
            lines.append(line.rstrip())
            line = f"{space}     "
        line += f"{text} " if place < len(pairs) - 1 else text
    return [*lines, line]
