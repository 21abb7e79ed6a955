"""fio's JSON: what one run measured, or why it cannot be used.

Knows fio 3 (``--output-format=json`` and ``json+``): latencies in nanoseconds, of reads, writes and
of the sync after a write, with the histogram in ``bins`` if it is json+. fio 2 wrote microseconds
under other names and is refused, as units must not be guessed.

Source: fio documentation, HOWTO, "JSON output" and "JSON+ output".
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from analysis.calibration.histogram import Histogram, from_bins, from_percentiles
from analysis.calibration.refusal import CalibrationError, read_json

Kind = Literal["append", "fetch", "stream", "cached"]
"""A sync after each write; random reads; direct writes without sync; buffered ones, which measure
the page cache."""

FEWEST: Final = 1_000
"""Latencies below which nothing is known of the 99.9 % quantile."""
_MAKE_ONE = "run fio 3 with --output-format=json+ --output=FILE"
_UNITS: Final = {"": 1, "b": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
_DIRECTIONS: Final = ("read", "write", "trim")


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
    device_ios_per_s: float
    """What the device itself counted; 0 if it is not told."""

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
    jobs = document.get("jobs")
    if not isinstance(jobs, list) or not jobs or not all(isinstance(job, dict) for job in jobs):
        raise CalibrationError(path, "jobs", f"missing or empty, no file of fio; {_MAKE_ONE}")
    options = _same_options(path, document, jobs)
    for place, job in enumerate(jobs):
        _check_job(path, f"jobs[{place}]", job)
    kind, section = _kind(path, jobs, options)
    latencies = [_latency(path, f"jobs[{i}].{section}", job, section) for i, job in enumerate(jobs)]
    latency = _together(path, latencies)
    direction = "read" if kind == "fetch" else "write"
    syncs_every = int(options.get("fdatasync") or options.get("fsync") or 1)
    each = max(1, syncs_every) if kind == "append" else 1
    per_s = sum(_number(path, f"jobs.{direction}", job[direction], "iops") for job in jobs)
    if per_s <= 0:
        raise CalibrationError(path, f"jobs.{direction}.iops", "is 0; let the run do some I/O")
    return FioRun(
        path=path,
        version=str(document.get("fio version", "fio of unknown version"))[:40],
        date=str(document.get("time", "unknown date"))[:40],
        kind=kind,
        pattern=_pattern(kind, options),
        options=options,
        in_flight=_in_flight(path, jobs, options),
        size_bytes=_size(path, options) * each,
        latency=latency,
        per_s=per_s / each,
        bytes_per_s=sum(
            _number(path, f"jobs.{direction}", job[direction], "bw_bytes") for job in jobs
        ),
        device_ios_per_s=_device_ios(document, jobs, direction),
    )


def _same_options(
    path: Path, document: Mapping[str, Any], jobs: Sequence[Mapping[str, Any]]
) -> dict[str, str]:
    """Returns the options of all jobs; refuses jobs that differ in more than their name."""
    shared = document.get("global options")
    base = shared if isinstance(shared, dict) else {}
    each = [
        {
            str(key): str(value)
            for key, value in {**base, **_mapping(job.get("job options"))}.items()
            if key not in ("name", "filename", "offset")
        }
        for job in jobs
    ]
    for place, options in enumerate(each):
        differing = {key for key in {*options, *each[0]} if options.get(key) != each[0].get(key)}
        if differing:
            keys = ", ".join(sorted(differing)[:5])
            message = f"differs from jobs[0] in {keys}; run each kind of job on its own"
            raise CalibrationError(path, f"jobs[{place}]", message)
    return each[0]


def _check_job(path: Path, place: str, job: Mapping[str, Any]) -> None:
    if job.get("error"):
        message = f"is {job['error']}, the job failed; mend it and run fio again"
        raise CalibrationError(path, f"{place}.error", message)
    sections = [_mapping(job.get(name)) for name in (*_DIRECTIONS, "sync")]
    names = {
        name for section in sections for name in section if re.fullmatch(r"[sc]?lat_?\w*", name)
    }
    old = sorted(names - {"slat_ns", "clat_ns", "lat_ns", "clat_prio", "lat_percentiles"})
    if old:
        both = "units are mixed" if names & {"clat_ns", "lat_ns"} else "fio 2, in microseconds"
        message = f"{both}: no latency is taken from it; {_MAKE_ONE}"
        raise CalibrationError(path, f"{place}.{old[0]}", message)


def _kind(
    path: Path, jobs: Sequence[Mapping[str, Any]], options: Mapping[str, str]
) -> tuple[Kind, str]:
    """Returns what was measured, and the section that has its latencies."""
    with_ios = {
        name
        for name in (*_DIRECTIONS, "sync")
        for job in jobs
        if _mapping(_mapping(job.get(name)).get("lat_ns")).get("N")
    }
    if "sync" in with_ios and "write" in with_ios:
        return "append", "sync"
    asked = options.get("rw", options.get("readwrite", ""))
    if {"read", "write"} <= with_ios:
        raise CalibrationError(path, "rw", f"{asked} mixes reads and writes; run each on its own")
    if "read" in with_ios:
        if "rand" not in asked:
            raise CalibrationError(path, "rw", f"is {asked or 'missing'}; use rw=randread")
        return "fetch", "read"
    if "write" not in with_ios:
        raise CalibrationError(path, "jobs", "did no I/O; let it run for some seconds")
    if _on(options, "fsync") or _on(options, "fdatasync"):
        message = "missing, though the job syncs; use fio 3.5 or later"
        raise CalibrationError(path, "jobs.sync", message)
    return ("stream" if _on(options, "direct") else "cached"), "write"


def _on(options: Mapping[str, str], name: str) -> bool:
    return options.get(name, "0") not in ("0", "")


def _pattern(kind: Kind, options: Mapping[str, str]) -> str:
    if kind != "append":
        return kind
    if _on(options, "overwrite"):
        return "overwriting"
    return "growing" if options.get("fallocate") == "none" else "preallocated"


def _in_flight(path: Path, jobs: Sequence[Mapping[str, Any]], options: Mapping[str, str]) -> int:
    said = _count(path, "job options.numjobs", options.get("numjobs", "1"))
    grouped = len(jobs) == 1 and options.get("group_reporting", "0") != "0"
    if len(jobs) != said and not grouped and said != 1:
        message = f"{len(jobs)} jobs of numjobs={said} are there; give the whole file"
        raise CalibrationError(path, "jobs", message)
    engine = options.get("ioengine", "psync")
    queues = "sync" not in engine and engine not in ("mmap", "vsync")
    depth = _count(path, "job options.iodepth", options.get("iodepth", "1")) if queues else 1
    return max(len(jobs), said) * depth


def _count(path: Path, place: str, text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 10_000:
        raise CalibrationError(path, place, f"is {text[:20]!r}; it must be 1 to 10,000")
    return int(text)


def _size(path: Path, options: Mapping[str, str]) -> int:
    text = options.get("bs", options.get("blocksize", "4k"))
    found = re.fullmatch(r"(\d{1,12})([kmgtb]?)i?b?", text.lower())
    if found is None or not 1 <= int(found[1]) * _UNITS[found[2]] <= 1024**3:
        message = f"is {text[:20]!r}; use one size, 512 bytes to 1 GiB"
        raise CalibrationError(path, "job options.bs", message)
    return int(found[1]) * _UNITS[found[2]]


def _latency(path: Path, place: str, job: Mapping[str, Any], section: str) -> Histogram:
    """Returns the latencies of one job."""
    measured = _mapping(job[section])
    name = "lat_ns"
    if not any(_mapping(measured.get(name)).get(key) for key in ("bins", "percentile")):
        name = "clat_ns" if "clat_ns" in measured else name
    found = _mapping(measured.get(name))
    place = f"{place}.{name}"
    count, low, high, mean = (
        _number(path, place, found, key) for key in ("N", "min", "max", "mean")
    )
    if not 0 <= low <= mean <= high or count < 1:
        message = "needs 0 <= min <= mean <= max and N > 0; the file is damaged, run fio again"
        raise CalibrationError(path, place, message)
    bins = {_whole(path, place, k): _whole(path, place, v) for k, v in _items(found, "bins")}
    if bins:
        if sum(bins.values()) <= 0 or min(bins) < low * 0.9 - 64 or max(bins) > high * 1.1 + 64:
            message = "lie outside of min and max; units are mixed or the file is damaged"
            raise CalibrationError(path, f"{place}.bins", message)
        return from_bins(bins, mean, int(low), int(high))
    percentiles = {
        float(key): _whole(path, place, value) for key, value in _items(found, "percentile")
    }
    if not percentiles:
        message = f"has neither bins nor percentile; {_MAKE_ONE}"
        raise CalibrationError(path, place, message)
    values = [percentiles[key] for key in sorted(percentiles)]
    if values != sorted(values) or not all(0 <= key <= 100 for key in percentiles):
        raise CalibrationError(path, f"{place}.percentile", "do not ascend; run fio again")
    return from_percentiles(percentiles, int(count), mean, int(low), int(high))


def _together(path: Path, latencies: Sequence[Histogram]) -> Histogram:
    """Returns the latencies of all jobs as one."""
    count = sum(each.count for each in latencies)
    if count < FEWEST:
        message = f"{count} latencies are too few for p99.9; run until there are {FEWEST:,}"
        raise CalibrationError(path, "jobs", message)
    if len(latencies) == 1:
        return latencies[0]
    if any(each.coarse for each in latencies):
        message = "several jobs without bins cannot be added up; use --output-format=json+"
        raise CalibrationError(path, "jobs", message)
    bins: dict[int, int] = {}
    for each in latencies:
        before = 0
        for value, reached in zip(each.values_ns, each.reached, strict=True):
            so_far = round(reached * each.count)
            bins[value] = bins.get(value, 0) + so_far - before
            before = so_far
    mean = sum(each.mean_ns * each.count for each in latencies) / count
    low, high = min(each.min_ns for each in latencies), max(each.max_ns for each in latencies)
    return from_bins(bins, mean, low, high)


def _device_ios(
    document: Mapping[str, Any], jobs: Sequence[Mapping[str, Any]], direction: str
) -> float:
    disks = document.get("disk_util")
    seconds = max((float(job.get("job_runtime") or 0) for job in jobs), default=0.0) / 1000
    if not isinstance(disks, list) or seconds <= 0:
        return 0.0
    return (
        max((float(_mapping(d).get(f"{direction}_ios") or 0) for d in disks), default=0) / seconds
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _items(found: Mapping[str, Any], name: str) -> Sequence[tuple[Any, Any]]:
    return list(_mapping(found.get(name)).items())


def _number(path: Path, place: str, found: Any, name: str) -> float:
    value = _mapping(found).get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise CalibrationError(path, f"{place}.{name}", f"is no number; {_MAKE_ONE}")
    if value < 0:
        raise CalibrationError(path, f"{place}.{name}", f"is {value:g}, which cannot be; run again")
    return float(value)


def _whole(path: Path, place: str, value: Any) -> int:
    try:
        number = int(value)
    except (TypeError, ValueError):
        raise CalibrationError(path, place, "has what is no whole number; run again") from None
    if number < 0:
        raise CalibrationError(path, place, f"has {number}, which cannot be; run again")
    return number
