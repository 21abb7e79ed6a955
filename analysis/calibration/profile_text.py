"""Parts of a scenario as YAML, with where each figure is from; a disk's profile is one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from textwrap import indent, wrap
from typing import Any

from analysis.calibration.disk_crowding import Crowded
from analysis.calibration.disk_profile import DiskProfile
from analysis.calibration.fio_file import FioRun
from analysis.calibration.histogram import Pairs
from analysis.study.documents import yaml_text
from sim.scenario.quantities import BANDWIDTH, DURATION, SIZE
from sim.scenario.section import Document

_WIDTH = 98
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class Part:
    """Some keys of one section of a scenario.

    Attributes:
        section: the key at the margin that they are below; empty: they are at the margin.
        said: sentences that stand above them as comments.
        keys: what a file says.
    """

    section: str
    said: tuple[str, ...]
    keys: Document


def file_text(head: Iterable[str], parts: Iterable[Part]) -> str:
    """Returns a file of parts, those of one section together.

    Args:
        head: sentences that begin the file as comments.
        parts: in their order in the file; those of one section follow each other.
    """
    lines = list(_comments(head, ""))
    for section, group in groupby(parts, key=lambda part: part.section):
        space = "  " if section else ""
        lines += ["", f"{section}:"] if section else [""]
        for part in group:
            lines += _comments(part.said, space)
            lines.append(indent(yaml_text(part.keys), space).rstrip("\n"))
    return "\n".join(lines) + "\n"


def document_of(parts: Iterable[Part]) -> Document:
    """Returns what a file of parts says."""
    document: Document = {}
    for part in parts:
        document.setdefault(part.section, {}).update(part.keys)
    return document


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
    return file_text(head, [disk_part(profile)])


def disk_part(profile: DiskProfile) -> Part:
    """Returns the disk of the raft log, with the runs that it was made of."""
    first = profile.runs[0]
    said = list(_sources(profile.runs))
    ceilings = profile.ceilings
    assumed = ", ".join(ceilings.assumed)
    said.append(f"{assumed}: ASSUMED, of {ceilings.machine} or what the latencies allow.")
    if "write_bandwidth" in ceilings.assumed:
        said.append(
            "The capacity rests on them; fio with rw=write bs=1m direct=1 measures the first."
        )
    raft: Document = {
        "name": profile.name,
        "source": plain(f"fio, {len(profile.runs)} runs, {first.version}, {first.date}"),
        "assumed": list(profile.assumed),
        "write_bandwidth": BANDWIDTH.text_of(ceilings.bytes_per_s),
        "write_iops": ceilings.iops,
    }
    if ceilings.read_bytes_per_s is not None:
        raft["read_bandwidth"] = BANDWIDTH.text_of(ceilings.read_bytes_per_s)
        raft["read_iops"] = ceilings.read_iops
    raft["append"] = shape(profile.append)
    if profile.longer:
        raft["longer"] = [
            {"size": SIZE.text_of(size_bytes), "latency": shape(pairs)}
            for size_bytes, pairs in profile.longer.items()
        ]
    if profile.fetch is not None:
        raft["fetch"] = shape(profile.fetch)
    for key, crowded in (
        ("crowding", profile.crowded),
        ("fetch_crowding", profile.fetch_crowded),
    ):
        if crowded is not None:
            raft[key] = _crowding(crowded)
            said.append(
                f"{key}: {crowded.beyond} in flight, and further, are not measured; between bounds."
            )
    return Part("hardware", tuple(said), {"disk": {"raft": raft}})


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


def _crowding(crowded: Crowded) -> Document:
    levels = {**crowded.levels, crowded.beyond: crowded.then}
    return {
        "levels": [
            {"in_flight": number, "latency": shape(pairs)} for number, pairs in levels.items()
        ],
        "further": shape(crowded.further),
    }


def shape(pairs: Pairs) -> dict[str, Any]:
    """Returns a distribution as a file says it."""
    return {"quantiles": [[rank, DURATION.text_of(ns)] for rank, ns in pairs]}
