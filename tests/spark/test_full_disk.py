"""A disk that fills up while a study runs, and has room again."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.cli.app import main
from analysis.cli.failures import ExitStatus
from tests.cli.stub_command import replaced
from tests.cli.stub_runs import finished_units

pytestmark = pytest.mark.spark


def mount(*words: str) -> bool:
    try:
        return subprocess.run(["mount", *words], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@pytest.fixture(name="small_disk")
def disk_with_room_for_a_few_units(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    if not mount("-t", "tmpfs", "-o", "size=128k", "pessim-test", str(disk)):
        pytest.skip("no right to mount; test_unit_folder.py limits the size of files instead")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets ``run`` find the stub's study, whatever the file."""
    for name, value in replaced("stub_model:run_unit").items():
        monkeypatch.setattr(name, value)


@pytest.mark.usefixtures("shared_session", "stub")
def test_a_full_disk_is_one_line_and_the_same_command_goes_on(
    small_disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = small_disk / "study"
    words = ["run", "stub.yaml", "--out", str(out)]
    assert main(words) == ExitStatus.UNITS_FAILED
    complained = capsys.readouterr().err
    said_before = ("units: ", "warning: run.measure: only 3 windows")
    lines = [line for line in complained.splitlines() if not line.startswith(said_before)]
    assert lines == [
        f"{out}/units: No space left on device; units that are done are kept, the same command "
        "continues"
    ]
    kept = len(finished_units(out))
    assert 0 < kept < 6
    assert not list(out.glob("units/*.failed")), "no unit is to blame"
    assert mount("-o", "remount,size=64m", str(small_disk))
    assert main(words) == ExitStatus.FINE
    assert f"{kept} units reused" in capsys.readouterr().out
