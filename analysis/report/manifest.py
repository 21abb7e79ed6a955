"""``manifest.json``: what made these numbers, so that they can be made again."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from analysis.pipeline.compiled_model import model_words
from analysis.program import IS_INSTALLED, ROOT
from analysis.report.freshness import asked, fingerprint, result_digests
from analysis.study.finished_study import FinishedStudy
from analysis.study.unit_folder import UnitRecord
from analysis.study.units import Unit

PACKAGES: Final = ("simpy", "numpy", "pandas", "pyarrow", "pyspark", "scipy", "matplotlib")


def package_versions() -> dict[str, str]:
    """Returns the versions of Python and of what computes."""
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "missing"
    return versions


def commit() -> str:
    """Returns the commit of this tree, with ``+`` if it was changed since; empty if unknown.

    An installed package says of which commit it was built.
    """
    if IS_INSTALLED:
        return (ROOT / "COMMIT").read_text(encoding="utf-8").strip()
    if not (ROOT / ".git").exists():
        return ""  # a copy, perhaps inside of somebody else's repository
    command = ["git", "describe", "--always", "--abbrev=12", "--dirty=+", "--exclude=*"]
    try:
        said = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=10
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return said.stdout.strip()


def manifest(run: FinishedStudy, wall_s: Mapping[str, float]) -> dict[str, Any]:
    """Returns what a study's folder says of itself; ``wall_s`` are seconds by phase."""
    study, done = run.study, run.done
    everything = "".join(unit.unit_hash for unit in done)
    settings = study.scenario(study.points[0], next(iter(study.variants))).run
    return {
        "study": run.name,
        "command": sys.argv,
        "config_hash": hashlib.sha256(everything.encode()).hexdigest(),
        "commit": commit(),
        "versions": package_versions(),
        "host": {"name": platform.node(), "system": platform.platform(), "cpus": _cpus()},
        "spark_master": run.master,
        "model": model_words(run.master),
        "seed": settings.seed,
        "units": {"done": len(done), "reused": run.reused, "failed": len(run.failed)},
        "finished": not run.missing,
        "wall_s": dict(wall_s),
        "failures": {unit.unit_hash: error for unit, error in run.failed.items()},
        "asked": asked(study),
        "made_of": fingerprint(study, done),
        "results": result_digests(run.folder),
        "digests": {unit.unit_hash: record.digests for unit, record in done.items()},
    }


def host_words() -> str:
    """Returns the system and the cores of this machine, without its name: pages are passed on."""
    return f"{platform.platform()}, {_cpus()} cores"


def _cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def invariants(done: Mapping[Unit, UnitRecord], *, checks: bool) -> dict[str, Any]:
    """Returns how many units were watched by checkers, and every violation with its unit."""
    violations: Sequence[dict[str, Any]] = [
        {"unit": unit.unit_hash, "variant": unit.variant, "replication": unit.replication}
        | {"point": dict(record.point), "what": what}
        for unit, record in done.items()
        for what in record.violations
    ]
    return {"checked": len(done) if checks else 0, "violations": list(violations)}
