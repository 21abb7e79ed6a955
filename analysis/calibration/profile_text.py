"""Parts of a scenario as YAML, with where each figure is from; a disk's profile is one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from textwrap import wrap

from analysis.calibration.disk_company import Crowded
from analysis.calibration.disk_profile import DiskProfile
from analysis.calibration.fio_file import FioRun
from analysis.calibration.histogram import Pairs
from sim.scenario.quantities import BANDWIDTH, DURATION, SIZE

_WIDTH = 98
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class Part:
    """Some lines of one section of a scenario.

    Attributes:
        section: the key at the margin that they are below; empty: they are at the margin.
        said: sentences that stand above them as comments.
        lines: the YAML, indented.
    """

    section: str
    said: tuple[str, ...]
    lines: tuple[str, ...]


def yaml_text(head: Iterable[str], parts: Iterable[Part]) -> str:
    """Returns a file of parts, those of one section together.

    Args:
        head: sentences that begin the file as comments.
        parts: in their order in the file; those of one section follow each other.
    """
    lines = list(_comments(head, ""))
    for section, group in groupby(parts, key=lambda part: part.section):
        lines.append("")
        if section:
            lines.append(f"{section}:")
        for part in group:
            lines += _comments(part.said, "  " if section else "")
            lines += part.lines
    return "\n".join(lines) + "\n"


def _comments(sentences: Iterable[str], indent: str) -> Iterator[str]:
    """Yields each sentence as a comment; what does not fit a line is indented below it."""
    for sentence in sentences:
        start = len(sentence) - len(sentence.lstrip())
        yield from wrap(
            plain(sentence),
            _WIDTH,
            initial_indent=f"{indent}# ",
            subsequent_indent=f"{indent}# {' ' * (start + 2)}",
            break_long_words=False,
            break_on_hyphens=False,
        ) or [f"{indent}#"]


def yaml_of(profile: DiskProfile) -> str:
    """Returns the profile as a file that a scenario can extend."""
    head = (
        f"Disk {profile.name}: {profile.pattern} file. For hardware.disk.raft of a scenario:",
        "paste it there, or lay this file beside the scenario and write  extends: FILE",
    )
    return yaml_text(head, [disk_part(profile)])


def disk_part(profile: DiskProfile) -> Part:
    """Returns the disk of the raft log, with the runs that it was made of."""
    first = profile.runs[0]
    source = plain(f"fio, {len(profile.runs)} runs, {first.version}, {first.date}")
    body = [
        "  disk:",
        "    raft:",
        f"      name: {quoted(profile.name)}",
        f"      source: {quoted(source)}",
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
    return Part("hardware", tuple(_sources(profile.runs)), tuple(body))


def _sources(runs: Iterable[FioRun]) -> Iterator[str]:
    for run in runs:
        yield f"{run.path.name}: {run.version}, {run.date}"
        yield "  " + " ".join(f"{key}={run.options[key]}" for key in _TOLD if key in run.options)


_TOLD = (
    "rw", "bs", "direct", "fdatasync", "fsync", "fallocate", "overwrite", "size", "numjobs",
    "iodepth", "ioengine", "runtime",
)  # fmt: skip


def plain(text: str) -> str:
    """Returns text of a file as one line of printable characters."""
    return "".join(each if each.isprintable() else "?" for each in text)[:_LONGEST]


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
