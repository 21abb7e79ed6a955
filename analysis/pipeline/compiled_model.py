"""Compiles the model with mypyc (``make fast``), and says whether what there is fits the source.

A library lies in a folder of the environment that is named after all it was made of: the source,
Python, mypy, the C compiler and its options. One of another name is not used, so after an edit the
model runs interpreted, and the first line of output says so. The units that local workers run use
the library; the laboratory, traces, replays and workers on other machines interpret the same
source.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from analysis.pipeline.spark_master import is_local
from analysis.program import ROOT, cores
from analysis.study.unit_folder import model_digest
from sim.compiled import LIBRARY, VARIABLE

LIBRARIES: Final = Path(sys.prefix) / "pessim-compiled"

PARTS: Final = (
    "units.py", "streams.py", "distributions.py", "unit_result.py", "simulation.py", "engine",
    "record", "hardware", "protocol", "pd", "transport", "workload", "raftstore", "storage",
    "server", "client", "operations", "observers", "checks", "etcd",
)  # fmt: skip
"""What runs in a unit. Scenarios are read once, so they are interpreted."""

INTERPRETED: Final = {
    "hardware/closed_loop.py": "a calibration's; it runs in no unit",
    "protocol/ablations.py": "its fields are made by a function",
    "protocol/admin.py": "dataclasses with attributes of the class; rare",
    "raftstore/probe.py": "its methods are replaced by those of observers",
    "record/facts.py": "it reads the types of its own fields",
    "storage/probe.py": "its methods are replaced by those of observers",
}
"""Modules among ``PARTS`` that mypyc cannot compile as they are, or need not, and why."""

_TRIAL: Final = """
from pathlib import Path
from analysis.study.load import load_study
from sim.record.facts import MemorySink
from sim.simulation import run_unit

trials = [(name, "200ms", ()) for name in ("quickstart", "hot_row", "crash", "etcd_1ms")]
for kind in ("gaussian", "special", "pareto", "zipfian"):
    more = f"workload.rand_type={kind}", "run.window=5ms"
    trials.append(("sysbench_update_non_index", "5ms", more))
for name, measure, more in trials:
    said = [f"run.measure={measure}", "run.warmup=0s", "run.replications=1", *more]
    study = load_study(Path("scenarios") / f"{name}.yaml", said)
    for variant in study.variants:
        sink = MemorySink()
        print(run_unit(study.scenario(study.points[0], variant), 0, sink), sink.tables)
"""
"""What a new library has to say as the interpreted model does."""

OPTIONS: Final = ("-O1", "-g0", "-fPIC", "-fwrapv", "-fvisibility=hidden", "-w")


def library() -> Path | None:
    """Returns the library that was made of this source, None if there is none."""
    path = LIBRARIES / key() / f"{LIBRARY}.so"
    return path if path.is_file() else None


def model_words(master: str) -> str:
    """Returns how workers run the model, and why not compiled if somebody expects it."""
    if library() is None:
        outdated = LIBRARIES.is_dir() and any(LIBRARIES.iterdir())
        again = " (what make fast compiled is of other sources: make fast again)"
        return f"interpreted{again if outdated else ''}"
    return "compiled" if is_local(master) else "interpreted (workers are elsewhere)"


class DifferentFactsError(Exception):
    """A compiled unit has left other facts than the interpreted one, or none."""


def build() -> Path:
    """Makes the library of this source, unless it is there; returns its path.

    Older ones are removed: nobody can use them.

    Raises:
        DifferentFactsError: if what was made is not the same model.
        CalledProcessError: if the C compiler fails.
        OSError: if there is none, or nothing can be written.
    """
    found = library()
    if found is not None:
        return found
    made = LIBRARIES / key() / f"{LIBRARY}.so"
    with tempfile.TemporaryDirectory(prefix="pessim-compile-") as folder:
        fresh = Path(folder) / made.name
        objects = _compile(Path(folder))
        subprocess.run([_compiler(), "-shared", "-o", fresh, *objects], check=True)
        interpreted = _facts("")
        if not interpreted or _facts(str(fresh)) != interpreted:
            raise DifferentFactsError
        shutil.rmtree(LIBRARIES, ignore_errors=True)
        made.parent.mkdir(parents=True)
        shutil.move(fresh, made)
    return made


@cache
def key() -> str:
    """Returns the name of what this source, Python, mypy and C compiler would make."""
    try:
        mypy = version("mypy")
    except PackageNotFoundError:
        mypy = ""
    made_of = (model_digest(), sys.version, mypy, _compiler_version(), *OPTIONS)
    return hashlib.sha256("\n".join(made_of).encode()).hexdigest()[:24]


def _compiler() -> str:
    return os.environ.get("CC") or "cc"


def _compiler_version() -> str:
    try:
        said = subprocess.run(
            [_compiler(), "--version"], capture_output=True, text=True, check=True, timeout=10
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return said.stdout.partition("\n")[0]


def sources() -> list[str]:
    """Returns the files to be compiled, as paths from the project's folder."""
    model = ROOT / "sim"
    found = [model / part for part in PARTS if part.endswith(".py")]
    found += [file for part in PARTS for file in sorted((model / part).rglob("*.py"))]
    left_out = {model / name for name in INTERPRETED}
    return [str(file.relative_to(ROOT)) for file in found if file not in left_out]


def translated(folder: Path) -> Any:
    """Writes the model as C into ``folder``; returns the extension that is to be made of it.

    It leaves the current folder, and ends the process where mypyc finds an error in the source.
    """
    from mypyc.build import mypycify

    os.chdir(ROOT)  # mypy names modules by their paths from here
    cache_option = f"--cache-dir={folder / 'mypy'}"
    extensions: list[Any] = mypycify(
        ["--config-file=pyproject.toml", cache_option, *sources()],
        multi_file=True,
        group_name=LIBRARY.removesuffix("__mypyc"),
        target_dir=str(folder),
    )
    # The first holds everything; the others are a shim a module, which ``sim.compiled`` replaces.
    return extensions[0]


def _compile(folder: Path) -> list[Path]:
    """Writes the model as C into ``folder``, and compiles it; returns the object files."""
    whole = translated(folder)
    headers = [*whole.include_dirs, sysconfig.get_paths()["include"], str(folder)]
    with ThreadPoolExecutor(cores()) as threads:
        return list(threads.map(lambda source: _object(source, headers), whole.sources))


def _object(source: str, headers: Sequence[str]) -> Path:
    made = Path(source).with_suffix(".o")
    include = [f"-I{header}" for header in headers]
    subprocess.run([_compiler(), *OPTIONS, *include, "-c", source, "-o", made], check=True)
    return made


def _facts(path: str) -> str:
    """Returns what a process with the library at ``path`` prints for short units, "" if it fails.

    mypyc reports some of what it cannot compile only when it is run.
    """
    said = subprocess.run(
        [sys.executable, "-c", _TRIAL],
        cwd=ROOT,
        env={**os.environ, VARIABLE: path},
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if said.returncode else said.stdout


if __name__ == "__main__":
    try:
        build()
    except DifferentFactsError:
        sys.exit("the compiled model does not give the same facts; studies run it interpreted")
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"the model could not be compiled ({error}); studies run it interpreted")
