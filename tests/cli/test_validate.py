"""``validate``: its table, its files and its exit status, over anchors that need no study."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.cli import validate_command
from analysis.cli.app import main
from analysis.cli.failures import ExitStatus
from analysis.validation.anchor import Anchor, Figure
from analysis.validation.anchors import ANCHORS

NAMES = ("M/M/8, mean wait", "device bytes a sync, recycled file, 4 KiB")
FEW = tuple(anchor for anchor in ANCHORS if anchor.name in NAMES)


def validate(monkeypatch: pytest.MonkeyPatch, anchors: tuple[Anchor, ...], *words: str) -> int:
    monkeypatch.setattr(validate_command, "ANCHORS", anchors)
    return main(["validate", *words])


def test_all_in_their_bands_is_fine_and_leaves_table_and_plot(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "120")  # Long names are broken at 80.
    out = tmp_path / "there"
    assert validate(monkeypatch, FEW, "--out", str(out)) == ExitStatus.FINE
    said = capsys.readouterr().out
    assert "2 of 2 anchors in their bands" in said
    assert all(name in said for name in NAMES)
    assert {file.name for file in out.iterdir()} == {
        "summary.json", "validation.json", "validation.png", "validation.svg",
    }  # fmt: skip
    said_of_all = json.loads((out / "summary.json").read_text())["validation"]
    assert (said_of_all["anchors"], said_of_all["in_band"]) == (2, 2)


def test_one_outside_its_band_is_status_1(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = replace(FEW[0], theirs=Figure.exactly(1e6))
    status = validate(monkeypatch, (wrong, FEW[1]), "--out", str(tmp_path))
    assert status == ExitStatus.CLAIM_FAILED
    said = capsys.readouterr().out
    assert "outside" in said
    assert "1 of 2 anchors in their bands" in said


def test_json_is_one_document_with_a_row_an_anchor(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert validate(monkeypatch, FEW, "--out", str(tmp_path), "--json") == ExitStatus.FINE
    printed = capsys.readouterr()
    rows = json.loads(printed.out)["anchors"]
    assert [row["anchor"] for row in rows] == [anchor.name for anchor in FEW]
    assert "anchors in their bands" in printed.err
