"""fio's JSON: what one run measured, or why it cannot be used.

Knows fio 3 (``--output-format=json`` and ``json+``): latencies in nanoseconds, of reads, writes and
of the sync after a write, with the histogram in ``bins`` if it is json+. fio 2 wrote microseconds
under other names and is refused, as units must not be guessed.

Source: fio documentation, HOWTO, "JSON output" and "JSON+ output".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from analysis.calibration.fio_latency import MOST, latency_of, together
from analysis.calibration.histogram import Histogram
from analysis.calibration.refusal import CalibrationError, JsonValue, read_json

Kind = Literal["append", "fetch", "stream", "read_stream", "cached"]
"""A sync after each write; random reads; direct writes without sync; direct sequential reads;
buffered writes, which measure the page cache."""

_UNITS: Final = {"": 1, "b": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
_MOST_BYTES: Final = 1024**3
_MOST_PER_S: Final = 10_000_000
_MOST_IN_FLIGHT: Final = 10_000
_DIGITS: Final = 9
_SLACK: Final = 1.1
"""Times the accesses in flight that rounded figures may need."""
_DIRECTIONS: Final = ("read", "write", "trim")
_MAKE_ONE: Final = "run fio 3 with --output-format=json+ --output=FILE"


@dataclass(frozen=True, slots=True)
class FioRun:
    """One fio file: jobs of the same kind, side by side."""

    path: Path
    version: str
    date: str
    kind: Kind
    pattern: str
    """How the file grows: growing, preallocated or overwriting; and how it is synced."""
    options: Mapping[str, str]
    in_flight: int
    """Accesses that fio keeps in flight: jobs x depth of their queue."""
    size_bytes: int
    """Of one access; of an append, what is written between two syncs."""
    latency: Histogram
    """Of the sync, the read or the write, all jobs together."""
    per_s: float
    """Accesses per second, all jobs together."""
    bytes_per_s: float

    @property
    def pause_ns(self) -> float:
        """Mean time of a job between the end of an access and the next."""
        return max(0.0, self.in_flight / self.per_s * 1e9 - self.latency.mean_ns)


def read_fio(path: Path) -> FioRun:
    """Returns what a file of fio measured.

    Raises:
        CalibrationError: if it is none, or of a run that cannot be used; the text says why.
    """
    document = read_json(path, _MAKE_ONE)
    jobs = document["jobs"].elements
    if not jobs or not all(isinstance(job.value, dict) for job in jobs):
        raise document["jobs"].refusal(f"missing or empty, not a file of fio; {_MAKE_ONE}")
    options = _same_options(document["global options"].entries, jobs)
    _check_groups(jobs)
    for job in jobs:
        _check_job(job)
    kind, section = _kind(path, jobs, options)
    latency = _latencies(path, [job[section] for job in jobs], options)
    direction = "read" if section == "read" else "write"
    each = _writes_between_syncs(path, options) if kind == "append" else 1
    per_s = sum(job[direction]["iops"].number(MOST) for job in jobs)
    if not 0 < per_s <= _MOST_PER_S:
        message = f"is {per_s:g}, which cannot be the rate of a disk; let the run do some I/O"
        raise CalibrationError(path, f"jobs.{direction}.iops", message)
    in_flight = _in_flight(path, jobs, options)
    _check_rate(latency, per_s / each, in_flight, jobs[0][section])
    return FioRun(
        path=path,
        version=str(document.entries.get("fio version", "fio of unknown version"))[:40],
        date=str(document.entries.get("time", "unknown date"))[:40],
        kind=kind,
        pattern=_pattern(kind, options),
        options=options,
        in_flight=in_flight,
        size_bytes=_size(path, options, each),
        latency=latency,
        per_s=per_s / each,
        bytes_per_s=sum(job[direction]["bw_bytes"].number(MOST) for job in jobs),
    )


def _same_options(shared: Mapping[str, object], jobs: Sequence[JsonValue]) -> dict[str, str]:
    """Returns the options of all jobs; refuses jobs that differ in more than their name."""
    each = [
        {
            str(key): str(value)
            for key, value in {**shared, **job["job options"].entries}.items()
            if key not in ("name", "filename", "offset")
        }
        for job in jobs
    ]
    for job, options in zip(jobs, each, strict=True):
        differing = {key for key in {*options, *each[0]} if options.get(key) != each[0].get(key)}
        if differing:
            keys = ", ".join(sorted(differing)[:5])
            message = f"differs from jobs[0] in {keys}; run each kind of job on its own"
            raise job.refusal(message)
    return each[0]


def _check_groups(jobs: Sequence[JsonValue]) -> None:
    """Refuses sections that ran one after the other: they were not in flight together."""
    for job in jobs:
        first, other = jobs[0]["groupid"].value, job["groupid"].value
        if other != first:
            message = (
                f"is {str(other)[:9]}, and {str(first)[:9]} in jobs[0]: with stonewall sections "
                "run one after the other; run each on its own"
            )
            raise job["groupid"].refusal(message)


def _latencies(path: Path, measured: Sequence[JsonValue], options: Mapping[str, str]) -> Histogram:
    try:
        found = [latency_of(each) for each in measured]
    except CalibrationError:
        if measured[0].place.endswith("sync") and _queues(options):
            engine = options["ioengine"][:20]
            message = f"is {engine}: its sync waits for a whole queue, and fio's latencies of it "
            message += "cannot be; use ioengine=psync, and numjobs for more in flight"
            raise CalibrationError(path, "job options.ioengine", message) from None
        raise
    return together(path, found)


def _check_rate(latency: Histogram, per_s: float, in_flight: int, measured: JsonValue) -> None:
    """Refuses more time than the jobs had (Little's law)."""
    needed = latency.mean_ns * per_s / 1e9
    if needed > in_flight * _SLACK:
        remedy = "run fio again, with ioengine=psync if it syncs"
        message = (
            f"has a mean of {latency.mean_ns / 1000:,.0f} us at {per_s:,.0f} per second, which "
            f"needs {needed:,.1f} in flight, not {in_flight}; is it in nanoseconds? {remedy}"
        )
        raise measured["lat_ns"].refusal(message)


def _check_job(job: JsonValue) -> None:
    error = job["error"]
    if error.value:
        raise error.refusal(f"is {error.value}, the job failed; fix it and run fio again")
    sections = [job[name].entries for name in (*_DIRECTIONS, "sync")]
    names = {
        name for section in sections for name in section if re.fullmatch(r"[sc]?lat_?\w*", name)
    }
    old = sorted(names - {"slat_ns", "clat_ns", "lat_ns", "clat_prio", "lat_percentiles"})
    if old:
        both = "units are mixed" if names & {"clat_ns", "lat_ns"} else "fio 2, in microseconds"
        raise job[old[0]].refusal(f"{both}: no latency is taken from it; {_MAKE_ONE}")


def _kind(path: Path, jobs: Sequence[JsonValue], options: Mapping[str, str]) -> tuple[Kind, str]:
    """Returns what was measured, and the section that has its latencies."""
    with_ios = {
        name for name in (*_DIRECTIONS, "sync") for job in jobs if job[name]["lat_ns"]["N"].value
    }
    asked = options.get("rw", options.get("readwrite", ""))
    if {"read", "write"} <= with_ios:
        raise CalibrationError(path, "rw", f"{asked} mixes reads and writes; run each on its own")
    if "sync" in with_ios and "write" in with_ios:
        return "append", "sync"
    if "read" in with_ios:
        return _kind_of_reads(path, asked, options), "read"
    if "write" not in with_ios:
        raise CalibrationError(path, "jobs", "did no I/O; let it run for some seconds")
    if _on(options, "fsync") or _on(options, "fdatasync"):
        message = "missing, though the job syncs; use fio 3.5 or later"
        raise CalibrationError(path, "jobs.sync", message)
    if options.get("sync", "0") not in ("0", "", "none"):
        message = f"is {options['sync'][:9]}: a disk may answer a write with O_SYNC or O_DSYNC "
        message += "sooner than a sync after it, which is what TiKV does; use fdatasync=1"
        raise CalibrationError(path, "job options.sync", message)
    return ("stream" if _on(options, "direct") else "cached"), "write"


def _kind_of_reads(path: Path, asked: str, options: Mapping[str, str]) -> Kind:
    if "rand" in asked:
        return "fetch"
    if not _on(options, "direct"):
        message = f"is {asked or 'missing'}; use rw=randread, or direct=1 for the bandwidth"
        raise CalibrationError(path, "rw", message)
    return "read_stream"


def _on(options: Mapping[str, str], name: str) -> bool:
    return options.get(name, "0") not in ("0", "")


def _pattern(kind: Kind, options: Mapping[str, str]) -> str:
    if kind != "append":
        return kind
    if _on(options, "overwrite"):
        return "overwriting"
    return "growing" if options.get("fallocate") == "none" else "preallocated"


def _in_flight(path: Path, jobs: Sequence[JsonValue], options: Mapping[str, str]) -> int:
    said = _count(path, "job options.numjobs", options.get("numjobs", "1"))
    grouped = len(jobs) == 1 and (
        options.get("group_reporting", "0") != "0" or _ran_together(jobs[0], said)
    )
    if len(jobs) != said and not grouped and said != 1:
        message = f"{len(jobs)} of numjobs={said} are there; give the whole file"
        raise CalibrationError(path, "jobs", message)
    depth = 1
    if _queues(options):
        depth = _count(path, "job options.iodepth", options.get("iodepth", "1"))
    in_flight = max(len(jobs), said) * depth
    if in_flight > _MOST_IN_FLIGHT:
        message = f"and iodepth make {in_flight:,}; {_MOST_IN_FLIGHT:,} are the most"
        raise CalibrationError(path, "job options.numjobs", message)
    return in_flight


def _queues(options: Mapping[str, str]) -> bool:
    """Returns whether a job has several accesses in flight, as deep as its queue is."""
    engine = options.get("ioengine", "psync")
    return "sync" not in engine and engine != "mmap"


def _ran_together(job: JsonValue, jobs: int) -> bool:
    """Returns whether one entry is of several jobs: --group_reporting leaves no option behind.

    Their running times are added up then, while ``elapsed`` is what passed, in whole seconds.
    """
    runtime_ms, elapsed_s = job["job_runtime"].value, job["elapsed"].value
    if not isinstance(runtime_ms, int | float) or not isinstance(elapsed_s, int | float):
        return False
    return jobs > 1 and runtime_ms > elapsed_s * 1000


def _count(path: Path, place: str, text: str) -> int:
    # Of other alphabets' digits int() takes some; of a thousand digits, none.
    is_count = text.isascii() and text.isdecimal() and len(text) <= _DIGITS
    if not is_count or not 1 <= int(text) <= 10_000:
        raise CalibrationError(path, place, f"is {text[:20]!r}; it must be 1 to 10,000")
    return int(text)


def _writes_between_syncs(path: Path, options: Mapping[str, str]) -> int:
    for name in ("fdatasync", "fsync"):
        if _on(options, name):
            return _count(path, f"job options.{name}", options[name])
    return 1


def _size(path: Path, options: Mapping[str, str], times: int) -> int:
    """Returns how many bytes one access has, or so many of them."""
    text = options.get("bs", options.get("blocksize", "4k"))
    found = re.fullmatch(r"(\d{1,12})([kmgtb]?)i?b?", text.lower())
    size_bytes = int(found[1]) * _UNITS[found[2]] * times if found else 0
    if not 512 <= size_bytes <= _MOST_BYTES:
        message = f"is {text[:20]!r}, {times} times; use one size, 512 bytes to 1 GiB"
        raise CalibrationError(path, "job options.bs", message)
    return size_bytes
