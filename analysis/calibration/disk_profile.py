"""From fio's runs to a disk: one access alone, several in flight, longer writes, and reads.

Law: one profile for each way a file grows (preallocated, growing, overwriting), as their latencies
differ by a factor of two. A profile needs a run with one job. Runs with several jobs become the
levels of its crowding; one of a longer append is brought to the shortest size by what one job's
latency stretches, rank by rank. A way that was measured with one job alone takes over the factors
by which more jobs slow another way, which is an assumption and is marked as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from analysis.calibration.disk_ceilings import Ceilings, ceilings_of
from analysis.calibration.disk_crowding import Crowded, crowded
from analysis.calibration.fio_file import FioRun, read_fio
from analysis.calibration.histogram import Pairs, ascending, at_rank
from analysis.calibration.refusal import CalibrationError

PAGE_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class DiskProfile:
    """A disk as a scenario describes it, and which runs it says to describe."""

    name: str
    pattern: str
    ceilings: Ceilings
    append: Pairs
    longer: Mapping[int, Pairs]
    crowded: Crowded | None
    fetch: Pairs | None
    fetch_crowded: Crowded | None
    assumed: tuple[str, ...]
    runs: tuple[FioRun, ...]
    """Those it was made of."""
    left_out: Mapping[Path, str] = field(default_factory=dict)
    """Runs that it does not describe, and why."""


def read_disks(
    files: Iterable[Path], name: str, machine: str | None = None
) -> tuple[list[FioRun], list[DiskProfile]]:
    """Returns fio's runs, and the disks that they measured; arguments as of ``profiles_of``.

    Raises:
        CalibrationError: if a file cannot be used.
    """
    runs = [read_fio(file) for file in dict.fromkeys(files)]
    return runs, profiles_of(runs, name, machine)


def profiles_of(runs: Sequence[FioRun], name: str, machine: str | None = None) -> list[DiskProfile]:
    """Returns a profile for each way a file grows, the one with the most jobs first.

    Args:
        runs: of one disk.
        name: of the first profile.
        machine: the profile of a machine that gives what no run shows; None: the default one.

    Raises:
        CalibrationError: if no run has one job that syncs each write.
    """
    runs = sorted(runs, key=lambda r: (r.pattern, r.size_bytes, r.in_flight, str(r.path)))
    appends = [run for run in runs if run.kind == "append"]
    ways = dict.fromkeys(run.pattern for run in appends)
    alone = {way: _alone(appends, way) for way in ways}
    usable = [way for way in ways if alone[way]]
    if not usable:
        path = appends[0].path if appends else runs[0].path
        cause = "no file of one job" if appends else "no file with fdatasync=1 or fsync=1"
        remedy = "run fio with rw=write bs=4k fdatasync=1 numjobs=1"
        raise CalibrationError(path, "", f"{cause} is among those given; {remedy}")
    usable.sort(key=lambda way: (-len([run for run in appends if run.pattern == way]), way))
    ceilings = ceilings_of(runs, machine)
    made = [_profile(name, runs, way, alone[way], ceilings) for way in usable]
    unknown = {
        run.path: f"no file of one job has a {run.pattern} file"
        for run in appends
        if run.pattern not in usable
    }
    first = replace(made[0], left_out={**made[0].left_out, **unknown})
    return [first, *(_crowded_as(first, each) for each in made[1:])]


def without(profile: DiskProfile, in_flight: int) -> DiskProfile | None:
    """Returns the profile without that level of crowding, or None if it has no other."""
    crowding = profile.crowded
    if crowding is None or in_flight not in crowding.levels or len(crowding.levels) < 2:
        return None
    kept = {n: pairs for n, pairs in crowding.levels.items() if n != in_flight}
    return replace(profile, crowded=crowded(profile.append, kept))


def _alone(appends: Sequence[FioRun], way: str) -> dict[int, FioRun]:
    """Returns the runs of one job, by size, the shortest first."""
    found = [run for run in appends if run.pattern == way and run.in_flight == 1]
    by_size: dict[int, FioRun] = {}
    for run in sorted(found, key=lambda run: run.size_bytes):
        by_size.setdefault(run.size_bytes, run)
    return by_size


def _profile(
    name: str,
    runs: Sequence[FioRun],
    way: str,
    alone: Mapping[int, FioRun],
    ceilings: Ceilings,
) -> DiskProfile:
    base_bytes, base = next(iter(alone.items()))
    append = base.latency.pairs()
    longer = {
        size: run.latency.pairs()
        for size, run in alone.items()
        if size > max(base_bytes, PAGE_BYTES)
    }
    stretched = {base_bytes: append} | longer
    levels: dict[int, Pairs] = {}
    left_out: dict[Path, str] = {}
    used = [run for run in runs if run.pattern == way and run.in_flight == 1]
    crowds = [run for run in runs if run.pattern == way and run.in_flight > 1]
    for run in sorted(crowds, key=lambda run: (run.size_bytes, run.in_flight)):
        if run.size_bytes not in stretched:
            left_out[run.path] = "no file of one job has its size"
            continue
        used.append(run)
        # Another size with as many jobs adds no level: whether it fits is a check of the model.
        if run.in_flight not in levels:
            levels[run.in_flight] = _brought_to(append, stretched[run.size_bytes], run)
    fetches = [run for run in runs if run.kind == "fetch"]
    fetch, fetch_crowded = _fetch(fetches)
    if fetch is not None:
        used += fetches
    return DiskProfile(
        name=name,
        pattern=way,
        ceilings=ceilings,
        append=append,
        longer=longer,
        crowded=crowded(append, levels) if levels else None,
        fetch=fetch,
        fetch_crowded=fetch_crowded,
        assumed=ceilings.assumed,
        runs=tuple(used),
        left_out=left_out | _not_described(runs, fetch),
    )


def _not_described(runs: Sequence[FioRun], fetch: Pairs | None) -> dict[Path, str]:
    reasons = {
        "stream": "no sync: gives bandwidth only; the model has no write without a sync",
        "read_stream": "gives bandwidth only; reads of the model are random",
        "cached": "buffered without sync: measures the page cache, not the disk",
    }
    if fetch is None:
        reasons["fetch"] = "no file of one job with rw=randread: reads stay as they are"
    return {run.path: reasons[run.kind] for run in runs if run.kind in reasons}


def _brought_to(append: Pairs, one_job: Pairs, run: FioRun) -> Pairs:
    """Returns a crowd's latencies as they would be of the shortest append, rank by rank."""
    return ascending(
        (rank, round(ns * short / max(1, long)))
        for (rank, ns), (_, short), (_, long) in zip(
            run.latency.pairs(), append, one_job, strict=True
        )
    )


def _fetch(fetches: Sequence[FioRun]) -> tuple[Pairs | None, Crowded | None]:
    alone = [run for run in fetches if run.in_flight == 1]
    if not alone:
        return None, None
    pairs = alone[0].latency.pairs()
    levels = {run.in_flight: run.latency.pairs() for run in fetches if run.in_flight > 1}
    return pairs, crowded(pairs, levels) if levels else None


def _crowded_as(measured: DiskProfile, other: DiskProfile) -> DiskProfile:
    """Returns a profile with what it lacks of crowding and longer appends, by another's factors."""
    name, assumed = f"{other.name}_{other.pattern}", list(other.assumed)
    crowding, longer = other.crowded, dict(other.longer)
    if crowding is None and measured.crowded is not None:
        assumed.append("crowding")
        slowed = measured.crowded.levels
        levels = {n: _slowed(other.append, measured.append, slowed[n]) for n in slowed}
        crowding = crowded(other.append, levels)
    if not longer and measured.longer:
        assumed.append("longer")
        longer = {
            size: _slowed(other.append, measured.append, pairs)
            for size, pairs in measured.longer.items()
        }
    return replace(other, name=name, crowded=crowding, longer=longer, assumed=tuple(assumed))


def _slowed(append: Pairs, reference: Pairs, slower: Pairs) -> Pairs:
    """Returns latencies slowed as ``reference`` is to ``slower``, rank by rank."""
    return ascending(
        (rank, round(ns * at_rank(slower, rank) / max(1.0, at_rank(reference, rank))))
        for rank, ns in append
    )
