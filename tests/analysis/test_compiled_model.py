"""A compiled model is used only where it was made of the very source, and whoever runs is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.pipeline import compiled_model
from analysis.pipeline.compiled_model import library, model_words
from analysis.pipeline.session import spark_settings
from sim.compiled import LIBRARY, VARIABLE

SETTING = f"spark.executorEnv.{VARIABLE}"


@pytest.fixture
def libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "libraries"
    monkeypatch.setattr(compiled_model, "LIBRARIES", folder)
    return folder


def put_library(folder: Path, name: str) -> Path:
    path = folder / name / f"{LIBRARY}.so"
    path.parent.mkdir(parents=True)
    path.touch()
    return path


def test_without_a_library_the_model_is_interpreted(libraries: Path) -> None:
    assert not libraries.exists()
    assert model_words("local") == "interpreted"
    assert not spark_settings("local[2]", "scratch", "")[SETTING]


def test_a_library_of_other_sources_is_not_used(libraries: Path) -> None:
    put_library(libraries, "of-other-sources")
    assert library() is None
    assert model_words("local") == (
        "interpreted (what make fast compiled is of other sources: make fast again)"
    )


def test_a_library_that_fits_is_given_to_local_workers(libraries: Path) -> None:
    made = put_library(libraries, compiled_model.key())
    assert library() == made
    assert model_words("local") == "compiled"
    assert model_words("spark://host:7077") == "interpreted (workers are elsewhere)"
    assert spark_settings("local[2]", "scratch", "")[SETTING] == str(made)
    assert SETTING not in spark_settings("spark://host:7077", "scratch", "")
