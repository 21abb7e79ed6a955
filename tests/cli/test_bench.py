"""``bench`` at a tiny size: every measurement runs, and the document has what was promised."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.cli.app import main
from analysis.cli.failures import ExitStatus
from benchmarks import __main__ as studies
from benchmarks.commands import units_cpu_s, widest_ratio
from benchmarks.quick import FAILED, KEYS, MODULES, document

ROOT = Path(__file__).resolve().parents[2]

TRUE_OR_FALSE = {"kernel_hash_equal", "compiled_facts_equal"}
WHOLE_COMMANDS = {"quickstart_cpu_s", "rfc77_answer_cpu_s", "study_fixed_cpu_s"}
COMPILED_KEYS = {"compiled_speedup", "compiled_facts_equal"}


@pytest.mark.spark
@pytest.mark.slow
def test_every_quick_figure_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bench.json"
    assert main(["bench", "--tiny", "--json", str(file)]) == ExitStatus.FINE
    said = capsys.readouterr().out
    assert all(key in said for key in KEYS)
    assert said.splitlines()[-1].startswith("measured in")
    found = json.loads(file.read_text(encoding="utf-8"))
    reasons = found.pop("reasons")
    assert list(found) == list(KEYS)
    assert {key for key, figure in found.items() if figure is None} == set(reasons)
    assert set(reasons) <= COMPILED_KEYS | WHOLE_COMMANDS | {"kernel_over_cpp"}
    for key in set(found) - set(reasons):
        assert isinstance(found[key], bool if key in TRUE_OR_FALSE else int | float), key
    assert found["kernel_hash_equal"] is True


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    no_folder = tmp_path / "file"
    no_folder.touch()
    assert main(["bench", "--json", str(no_folder / "bench.json")]) == ExitStatus.BAD_INPUT
    captured = capsys.readouterr()
    assert captured.out == ""
    assert str(no_folder) in captured.err


def test_what_a_study_has_cost_is_read_from_its_folder(golden_run: Path) -> None:
    assert units_cpu_s(golden_run) > 0
    assert 0 < widest_ratio(golden_run) < 10


def test_a_figure_that_there_is_not_is_null_and_says_why() -> None:
    found = dict.fromkeys(KEYS, 1.5) | {"kernel_speedup": f"{FAILED} no", "spark_start_s": "why"}
    said = document(found)
    assert said["kernel_speedup"] is None
    assert said["spark_start_s"] is None
    assert said["events_per_txn"] == 1.5
    assert said["reasons"] == {"kernel_speedup": "failed: no", "spark_start_s": "why"}


def test_each_key_has_one_module() -> None:
    given = [key for keys in MODULES.values() for key in keys]
    assert sorted(given) == sorted(KEYS)


@pytest.mark.parametrize("name", studies.STUDIES)
def test_each_long_study_is_a_module_that_can_be_run(name: str) -> None:
    text = (ROOT / "benchmarks" / f"{name}.py").read_text(encoding="utf-8")
    assert 'if __name__ == "__main__":' in text
    assert ("ArgumentParser(" in text) == (name in studies.WITH_OPTIONS)


def test_help_of_a_study_without_options_does_not_run_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for words, status in ((["--help"], ExitStatus.FINE), (["--quick"], ExitStatus.BAD_INPUT)):
        monkeypatch.setattr("sys.argv", ["benchmarks", "sequential_coverage", *words])
        assert studies.main() == status
        assert "10 minutes); it has no options" in capsys.readouterr().out


def test_studies_are_listed_and_unknown_ones_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["benchmarks"])
    assert studies.main() == ExitStatus.FINE
    said = capsys.readouterr().out
    assert all(name in said for name in studies.STUDIES)
    monkeypatch.setattr("sys.argv", ["benchmarks", "coverige"])
    assert studies.main() == ExitStatus.BAD_INPUT
    assert "no study 'coverige'" in capsys.readouterr().err
