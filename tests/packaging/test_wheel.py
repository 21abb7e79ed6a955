"""The package as it is installed: built, put into an environment of its own, and used there.

The environment takes third parties' packages from this one. It is used in a folder in which a user
has packages ``sim`` and ``analysis`` of his own, and no checkout is in sight.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from analysis.api import run as run_here

ROOT = Path(__file__).resolve().parents[2]
TINY = """
about: Is it installed?
extends: pessim:quickstart
run: {warmup: 50ms, measure: 60ms, window: 20ms, replications: 2}
expect: []
"""

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.usefixtures("shared_session")]


def said(command: Sequence[str | Path], cwd: Path, **environment: str) -> str:
    """Returns what a command prints, and fails if it does."""
    ours = ("PYTHON", "PYSPARK", "PESSIM")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=kept | environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    # From a copy: the folder that setuptools builds in would be left in the checkout.
    source = folder / "source"
    source.mkdir()
    for name in ("pessim", "sim", "analysis", "scenarios", "docs", "setup.py", "pyproject.toml",
                 "README.md", "LICENSE"):  # fmt: skip
        said(["cp", "-r", ROOT / name, source], folder)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    said([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", folder, source], folder)
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def place(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's folder, with an environment in ``.venv`` that has the wheel."""
    place = tmp_path_factory.mktemp("place")
    venv.create(place / ".venv", with_pip=False, symlinks=True)
    (site,) = (place / ".venv").glob("lib/python*/site-packages")
    (site / "third_parties.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    pip = [sys.executable, "-m", "pip", "--python", str(place / ".venv"), "--quiet"]
    said([*pip, "install", "--no-deps", "--no-index", wheel], place)
    for package in ("sim", "analysis"):
        (place / package).mkdir()
        (place / package / "__init__.py").write_text(f"WHOSE = 'the user\\'s own {package}'\n")
    (place / "tiny.yaml").write_text(TINY)
    return place


def test_nothing_but_pessim_is_at_the_top(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        text = archive.read("pessim/analysis/cli/app.py").decode()
    assert {re.split(r"[/-]", name)[0] for name in names} == {"pessim"}
    assert not [name for name in names if "/tests/" in name or "/benchmarks/" in name]
    assert "\nfrom pessim.analysis.cli import" in text
    beside = {path for path in (ROOT / "analysis").rglob("*") if path.is_file()}
    data = [path for path in beside if path.suffix not in {".py", ".pyc"}]
    assert not {f"pessim/{path.relative_to(ROOT)}" for path in data}.difference(names)
    shipped = {str(path.relative_to(ROOT)) for path in (ROOT / "scenarios").rglob("*.yaml")}
    assert shipped == {name[7:] for name in names if name.startswith("pessim/scenarios/")}


def pessim(place: Path, *words: str) -> str:
    return said([place / ".venv" / "bin" / "pessim", *words], place)


def test_the_command_says_which_version_it_is(place: Path) -> None:
    assert re.match(
        r"pessim \d+\.\d+\.\d+, commit \S+, model interpreted", pessim(place, "--version")
    )


def test_a_file_over_a_shipped_one_is_checked_and_run_beside_a_users_packages(place: Path) -> None:
    assert "tiny.yaml: fine" in pessim(place, "check", "tiny.yaml", "pessim:quickstart")
    command: list[str | Path]
    command = [place / ".venv" / "bin" / "pessim", "run", "tiny.yaml", "--no-plots"]
    # Another Python is for a cluster, not for units on this machine; the user's packages are found.
    elsewhere = {"PYSPARK_PYTHON": "no/such/python", "PYTHONPATH": str(place)}
    assert "PASSED" in said(command, place, **elsewhere)
    found = json.loads((place / "results/tiny/summary.json").read_text())
    here = run_here(place / "tiny.yaml", folder=place / "here", plots="none")
    rows = json.loads((here.folder / "summary.json").read_text())["rows"]
    assert found["rows"] == rows
    page = (place / "results/tiny/report.html").read_text()
    assert "pessim results/tiny/scenario.yaml --out results/again" in page


def test_messages_name_the_command_that_was_called(place: Path) -> None:
    assert "Example: pessim check" in pessim(place, "check", "--help")
    assert "run_sim" not in pessim(place, "--help") + pessim(place, "explain", "tiny.yaml")


BESIDE = """
import os, sys
import pessim, sim, analysis
study = pessim.open("results/tiny")
assert study.summary["value"].notna().any()
os.environ["PYSPARK_PYTHON"] = sys.executable

from pyspark import SparkContext

def on_a_worker(_):
    import sim, analysis, pessim.sim.units
    return sim.WHOSE, analysis.WHOSE, pessim.sim.units.__name__

context = SparkContext("local[1]")
there = context.parallelize([0], 1).map(on_a_worker).collect()[0]
print(sim.WHOSE, analysis.WHOSE, *there, sep="; ")
context.stop()
"""


def test_a_users_packages_are_his_own_in_python_and_on_workers(place: Path) -> None:
    (place / "beside.py").write_text(BESIDE)
    printed = said([place / ".venv/bin/python", "beside.py"], place, PYTHONPATH=str(place))
    own = ["the user's own sim", "the user's own analysis"]
    assert printed.splitlines()[-1].split("; ") == [*own, *own, "pessim.sim.units"]
