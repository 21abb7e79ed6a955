"""A study's folder is its own: what others have put there is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.study.study_folder import StudyFolderError, locked_study_folder, write_text_whole


def test_a_study_is_not_put_among_other_things(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for name in ("API.md", "GUIDE.md"):
        write_text_whole(docs / name, "")
    message = (
        r"docs: is not a study's folder and not empty \(it has API.md and 1 more\); choose anot"
    )
    with pytest.raises(StudyFolderError, match=message), locked_study_folder(docs):
        pass
    assert sorted(path.name for path in docs.iterdir()) == ["API.md", "GUIDE.md"]


def test_what_a_killed_run_has_left_is_gone_on_with(tmp_path: Path) -> None:
    for left in ([".lock"], [".lock", ".DS_Store", "units"], ["scenario.yaml", "my notes"]):
        folder = tmp_path / str(len(left)) / left[0]
        (folder / "units").mkdir(parents=True)
        for name in set(left) - {"units"}:
            write_text_whole(folder / name, "")
        with locked_study_folder(folder):
            pass
