"""Files as fio writes them, with latencies of our choice."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sim.streams import Streams

Document = dict[str, Any]

LAB = Path(__file__).resolve().parents[1] / "testdata" / "fio"


def latencies(median_us: float, *, count: int = 20_000, name: str = "fio") -> list[int]:
    """Returns log-normal latencies in nanoseconds."""
    normal = Streams(7, 0).stream(name).block_of("normal", count)
    return [int(ns) for ns in median_us * 1000 * np.exp(0.25 * normal)]


def job(
    sync_ns: Sequence[int], options: dict[str, str], *, pause_ns: int = 10_000, bins: bool = True
) -> Document:
    """Returns one job that syncs after each write."""
    mean = float(np.mean(sync_ns))
    per_s = 1e9 / (mean + pause_ns)
    latency: Document = {
        "min": min(sync_ns), "max": max(sync_ns), "mean": mean, "stddev": float(np.std(sync_ns)),
        "N": len(sync_ns),
        "percentile": {
            f"{rank:.6f}": int(np.percentile(sync_ns, rank))
            for rank in (1, 5, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
        },
    }  # fmt: skip
    if bins:
        values, counts = np.unique(np.asarray(sync_ns) // 500 * 500 + 250, return_counts=True)
        latency["bins"] = {
            str(value): int(count) for value, count in zip(values, counts, strict=True)
        }
    nothing = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
    write = {"min": 3000, "max": 9000, "mean": 4000.0, "stddev": 100.0, "N": len(sync_ns)}
    return {
        "jobname": "job",
        "error": 0,
        "job options": {"rw": "write", "bs": "4k", "fdatasync": "1", "numjobs": "1"} | options,
        "job_runtime": 10_000,
        "read": {"io_bytes": 0, "bw_bytes": 0, "iops": 0.0, "total_ios": 0, "lat_ns": nothing},
        "write": {
            "io_bytes": 4096 * len(sync_ns), "bw_bytes": int(4096 * per_s), "iops": per_s,
            "total_ios": len(sync_ns), "lat_ns": write,
        },
        "sync": {"total_ios": 0, "lat_ns": latency},
    }  # fmt: skip


def document(*jobs: Document) -> Document:
    """Returns a file of these jobs."""
    disk = {"name": "vda", "read_ios": 0, "write_ios": 300_000}
    return {
        "fio version": "fio-3.33", "time": "Sat Nov 21 04:46:42 2026", "jobs": list(jobs),
        "disk_util": [disk],
    }  # fmt: skip


def one_job(median_us: float = 100, **options: str) -> Document:
    """Returns a file of one job."""
    return document(job(latencies(median_us), options))


def reads(median_us: float, **options: str) -> Document:
    """Returns a file of one job that reads."""
    made = one_job(median_us)
    (read,) = made["jobs"]
    size_bytes = 1024**2 if options.get("bs") == "1m" else 4096
    latency = read["sync"]["lat_ns"]
    nothing, per_s = read["read"]["lat_ns"], 1e9 / latency["mean"]
    read["job options"] = {"numjobs": "1"} | options
    read["read"] |= {"iops": per_s, "bw_bytes": int(size_bytes * per_s), "lat_ns": latency}
    read["write"] |= {"iops": 0.0, "bw_bytes": 0, "lat_ns": nothing}
    read["sync"] = {"total_ios": 0, "lat_ns": nothing}
    return made


def written(folder: Path, content: Document | str, name: str = "fio.json") -> Path:
    """Writes a file and returns its path."""
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def changed(change: Callable[[Document], object]) -> Document:
    """Returns a file of one job with something wrong in it."""
    wrong = one_job()
    change(wrong)
    return wrong
