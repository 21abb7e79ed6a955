"""What a calibration of a disk says: measured beside modelled, and what is doubtful."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from analysis.calibration.disk_ceilings import STREAM
from analysis.calibration.disk_fit import ALLOWED, LEVELS, RunFit
from analysis.calibration.disk_profile import DiskProfile
from analysis.calibration.fio_file import FioRun
from sim.scenario.quantities import BANDWIDTH
from sim.scenario.schema.hardware import LsmSpec
from sim.scenario.schema.tikv import Tikv
from sim.units import KIB

_LABEL: Final = 14
_STORED_BYTES: Final = Tikv().block_bytes * LsmSpec().block_compression
"""A block as it is stored by default."""
_LIKE_BLOCKS_BYTES: Final = (32 * KIB, 48 * KIB)
"""Reads of these sizes stand for it."""
_NOISE: Final = 0.9
"""More jobs do not make a disk quicker; this much is luck."""
_SETTLED_US: Final = 2
"""Bounds that are no further apart than this say where the device's limit is."""
_FEW_IN_TAIL: Final = 10_000
"""Latencies of which p99.9 is decided by fewer than ten."""


def level_name(level: float) -> str:
    """Returns ``p99.9`` for 0.999."""
    return f"p{level * 100:g}"


def fit_lines(fits: Iterable[RunFit]) -> Iterator[str]:
    """Yields a table of 80 columns: per run measured and modelled microseconds, and the error."""
    for fit in fits:
        run = fit.run
        yield ""
        yield f"{_shown(run)} {_what(run)}; profile {fit.profile}"
        yield _row("", [level_name(level) for level in LEVELS])
        yield _row("measured, us", [_us(ns) for ns in fit.measured_ns])
        yield _row("modelled, us", [_us(ns) for ns in fit.modelled_ns])
        yield _row("error, %", [f"{error * 100:+.1f}" for error in fit.errors])
        rate = f"{fit.measured_per_s:,.0f} measured, {fit.modelled_per_s:,.0f} modelled"
        held = "" if fit.holds else f"  BEYOND {ALLOWED:.0%}"
        yield f"  {'per second':<{_LABEL}}{rate}{held}"


def advice(fits: Iterable[RunFit]) -> Iterator[str]:
    """Yields what to do about runs that the model is too far from."""
    beyond = [fit.run.path.name for fit in fits if not fit.holds]
    if beyond:
        yield (
            f"BEYOND {ALLOWED:.0%}: {', '.join(beyond)}. The model does not say what was measured "
            "there. Measure again with nothing else on the disk; give fewer sizes and numbers of "
            "jobs, those that matter to you. Or take the profile as it is: the errors above are "
            "then what its latencies are off"
        )


def largest_error(fits: Sequence[RunFit]) -> str:
    """Returns in a sentence how far the model of the disk is from what fio measured."""
    fit, level, error = max(
        (
            (fit, level, error)
            for fit in fits
            for level, error in zip(LEVELS, fit.errors, strict=True)
        ),
        key=lambda each: abs(each[2]),
    )
    return (
        f"disk: the model is within {abs(error) * 100:.1f} % of fio from p10 to p99.9; worst at "
        f"{level_name(level)} of {_shown(fit.run)}"
    )


def blind_lines(predicted: Sequence[RunFit]) -> Iterator[str]:
    """Yields how well each level follows from the others, which is what to expect between them."""
    if not predicted:
        return
    yield ""
    yield "Each number of jobs predicted from the others (error, %; no condition, for your trust):"
    yield _row("", [level_name(level) for level in LEVELS])
    for fit in predicted:
        label = f"{fit.run.in_flight} jobs {_size(fit.run.size_bytes)}"
        yield _row(label, [f"{error * 100:+.1f}" for error in fit.errors])


def remarks(profiles: Sequence[DiskProfile], runs: Iterable[FioRun]) -> Iterator[str]:
    """Yields what a reader must know to believe the profile, a line each."""
    yield from _assumed(profiles)
    yield _beyond(profiles[0])
    yield from _quicker(profiles)
    left_out = {path: why for profile in profiles for path, why in profile.left_out.items()}
    described = {run.path for profile in profiles for run in profile.runs}
    for path, why in left_out.items():
        if path not in described:
            yield f"{path.name}: not modelled: {why}"
    short = {run.size_bytes: run.path.name for run in runs if run.kind == "fetch"}
    for size_bytes, name in short.items():
        if not _LIKE_BLOCKS_BYTES[0] <= size_bytes <= _LIKE_BLOCKS_BYTES[1]:
            size, block = _size(size_bytes), f"{_STORED_BYTES / KIB:.0f} KiB"
            yield f"{name}: reads of {size} stand for blocks that take {block}; use bs=40k"
    for run in runs:
        yield from _doubts(run)


def _assumed(profiles: Sequence[DiskProfile]) -> Iterator[str]:
    for profile in profiles:
        if profile.assumed:
            yield f"{profile.name}: assumed, not measured: {', '.join(profile.assumed)}"
    first = profiles[0]
    if "write_bandwidth" in first.assumed:
        ceilings = first.ceilings
        bandwidth = BANDWIDTH.text_of(ceilings.bytes_per_s)
        yield (
            f"{first.name}: no run shows what the disk can carry, so the capacity rests on "
            f"{bandwidth} and {ceilings.iops:,} writes/s: ASSUMED, those of {ceilings.machine} or "
            f"what the latencies allow. This measures the bandwidth: {STREAM}"
        )


def _beyond(profile: DiskProfile) -> str:
    crowded = profile.crowded
    if crowded is None:
        return f"{profile.name}: one job only, so appends do not disturb each other: assumed"
    numbers = ", ".join(str(number) for number in crowded.levels)
    least, most = crowded.least_ns / 1000, crowded.most_ns / 1000
    if most - least < _SETTLED_US:
        bounds = f"each adds {most:.0f} us to the median"
    else:
        bounds = f"each adds {least:.0f} to {most:.0f} us to the median at the limit; the middle is"
        bounds += f" taken, so measure {crowded.beyond} jobs too"
    return f"{profile.name}: with {numbers} in flight as measured; beyond, {bounds}"


def _quicker(profiles: Sequence[DiskProfile]) -> Iterator[str]:
    """Yields runs of several jobs whose median is below that of one: something else ran then."""
    runs = [run for profile in profiles for run in profile.runs]
    alone = {
        (run.pattern, run.size_bytes): run.latency.quantile_ns(0.5)
        for run in runs
        if run.in_flight == 1
    }
    for run in {run.path: run for run in runs}.values():
        one_ns = alone.get((run.pattern, run.size_bytes), 0)
        ns = run.latency.quantile_ns(0.5)
        if ns < one_ns * _NOISE:
            yield (
                f"{run.path.name}: its median, {_us(ns)} us, is below the {_us(one_ns)} us of one "
                "job; something else used the disk: measure again"
            )


def _doubts(run: FioRun) -> Iterator[str]:
    name, latency = run.path.name, run.latency
    if latency.coarse:
        yield f"{name}: percentiles only, the tail between them is coarse; use json+"
    if latency.count < _FEW_IN_TAIL:
        few = latency.count // 1000
        yield f"{name}: {latency.count:,} latencies, so p99.9 rests on {few}; run it longer"


def fit_document(profiles: Sequence[DiskProfile], fits: Sequence[RunFit]) -> dict[str, Any]:
    """Returns the report as plain data; latencies in microseconds."""
    return {
        "profiles": [profile.name for profile in profiles],
        "allowed_error": ALLOWED,
        "holds": all(fit.holds for fit in fits),
        "fits": [
            {
                "file": str(fit.run.path),
                "profile": fit.profile,
                "in_flight": fit.run.in_flight,
                "size_bytes": fit.run.size_bytes,
                "quantiles": [
                    {"p": level * 100, "measured_us": m / 1000, "modelled_us": s / 1000, "error": e}
                    for level, m, s, e in zip(
                        LEVELS, fit.measured_ns, fit.modelled_ns, fit.errors, strict=True
                    )
                ],
                "measured_per_s": fit.measured_per_s,
                "modelled_per_s": fit.modelled_per_s,
            }
            for fit in fits
        ],
    }


def _row(label: str, cells: Sequence[str]) -> str:
    return f"  {label:<{_LABEL}}" + "".join(f"{cell:>7}" for cell in cells)


def _us(ns: int) -> str:
    return f"{ns / 1000:.0f}" if ns >= 100_000 else f"{ns / 1000:.1f}"


def _shown(run: FioRun) -> str:
    name = run.path.name
    return name if name.isprintable() else ascii(name)


def _size(size_bytes: int) -> str:
    return f"{size_bytes // 1024} KiB" if size_bytes % 1024 == 0 else f"{size_bytes} B"


def _what(run: FioRun) -> str:
    kind = "random reads" if run.kind == "fetch" else f"appends, {run.pattern} file"
    return f"({run.in_flight} in flight, {_size(run.size_bytes)} {kind})"
