"""``manifest.json``: what made a study's numbers, and so whether they have to be made again.

They depend on the study, the facts and the code. The manifest keeps a fingerprint of these and the
digests of the files, so a file that was changed, lost or half written is made anew.
"""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from analysis.pipeline.compiled_model import model_words
from analysis.program import IS_INSTALLED, ROOT, cores
from analysis.study.finished_study import FinishedStudy
from analysis.study.study import Study
from analysis.study.unit_folder import UnitRecord, file_digest, source_digest
from analysis.study.units import Unit

MANIFEST: Final = "manifest.json"
SUMMARY: Final = "summary.json"
_INPUTS: Final = frozenset({MANIFEST, "scenario.yaml"})


def fingerprint(study: Study, done: Mapping[Unit, UnitRecord]) -> str:
    """Returns a digest of all that a summary is made of."""
    facts = {unit.unit_hash: record.digests for unit, record in done.items()}
    return _digest([asked(study), facts])


def asked(study: Study) -> str:
    """Returns a digest of the question and of the code that answers it."""
    return _digest([study.name, study.resolved_yaml(), source_digest("sim", "analysis")])


def is_finished(folder: Path, study: Study) -> bool:
    """Returns whether the manifest says that this very question was answered, units unseen."""
    try:
        said = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return bool(said["asked"] == asked(study) and said["finished"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def result_digests(folder: Path) -> dict[str, str]:
    """Returns the digest of every file that was made of facts, plots included."""
    files = [*folder.glob("*"), *(folder / "plots").glob("*")]
    return {
        path.relative_to(folder).as_posix(): file_digest(path)
        for path in sorted(files)
        if path.is_file() and not path.name.startswith(".") and path.name not in _INPUTS
    }


def present_summary(
    folder: Path, study: Study, done: Mapping[Unit, UnitRecord]
) -> dict[str, Any] | None:
    """Returns the summary in the folder if it, and all beside it, is up to date."""
    try:
        said = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        whole = SUMMARY in said["results"] and said["results"] == result_digests(folder)
        if not whole or said["made_of"] != fingerprint(study, done):
            return None
        summary: dict[str, Any] = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return summary


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
    return {
        "study": run.name,
        "command": sys.argv,
        "commit": commit(),
        "versions": package_versions(),
        "host": {"name": platform.node(), "system": platform.platform(), "cpus": cores()},
        "spark_master": run.master,
        "model": model_words(run.master),
        "seed": study.run.seed,
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
    return f"{platform.platform()}, {cores()} cores"


def invariants(done: Mapping[Unit, UnitRecord], *, checks: bool) -> dict[str, Any]:
    """Returns how many units were watched by checkers, and every violation with its unit."""
    violations: Sequence[dict[str, Any]] = [
        {"unit": unit.unit_hash, "variant": unit.variant, "replication": unit.replication}
        | {"point": dict(record.point), "what": what}
        for unit, record in done.items()
        for what in record.violations
    ]
    return {"checked": len(done) if checks else 0, "violations": list(violations)}
