"""A study in an object store: the driver's copy is lost, a bucket is wrong.

What is in the store is compared with a run in a folder that nothing happened to.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from analysis.cli.failures import ExitStatus
from analysis.pipeline.object_store import ObjectStore
from analysis.pipeline.session import SparkStarter
from tests.cli.stub_runs import UNITS, finish, rows, run_here, start
from tests.spark.sharing import sharing
from tests.store.s3_server import address

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_a_study_is_in_the_store_and_a_lost_copy_changes_nothing(
    s3_port: int,
    tmp_path: Path,
    undisturbed: str,
    starter: SparkStarter,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    where, copy = address("studies/stub", s3_port), tmp_path / "results" / "stub"
    started = start(
        where, "stub_model:run_unit", PYTHONHASHSEED="1", master="local[2]", here=tmp_path
    )
    status, said, complained = finish(started)
    assert status == ExitStatus.FINE, complained
    assert "6 units checked" in said
    assert rows(copy) == undisturbed
    names = {path.name for path in (copy / "units").iterdir()}
    assert len(names) == UNITS
    store = ObjectStore.at(where)
    assert store.unit_names() == names
    assert store.read("report.html") == (copy / "report.html").read_bytes()

    shutil.rmtree(copy)
    with monkeypatch.context() as patch, sharing(starter):
        patch.chdir(tmp_path)
        run_here(where, "no.such:model")
    assert f"{UNITS} units reused" in capsys.readouterr().out
    assert rows(copy) == undisturbed
    manifest = json.loads(store.read("manifest.json"))
    assert manifest["units"] == {"done": UNITS, "reused": UNITS, "failed": 0}


def test_a_wrong_bucket_is_one_line_and_bad_input(s3_port: int, tmp_path: Path) -> None:
    process = start(address("x", s3_port, "none"), "stub_model:run_unit", here=tmp_path)
    status, _, complained = finish(process)
    assert status == ExitStatus.BAD_INPUT
    assert complained == "s3://none/x: there is no such bucket; make it, or correct its name\n"
    assert not (tmp_path / "results").exists()
