"""The charts' library is the published one: its files have the hashes that are declared."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from pathlib import Path

from analysis.page.formats import LIBRARY, library

FOLDER = Path(str(files("analysis.page").joinpath("assets", LIBRARY)))
DECLARATION = "source.toml"


def test_every_vendored_file_has_the_hash_that_is_declared() -> None:
    there = {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in FOLDER.iterdir()
        if file.name != DECLARATION
    }
    assert there == library()["sha256"]


def test_what_is_declared_is_what_the_files_say() -> None:
    declared = library()
    script = (FOLDER / "uPlot.iife.min.js").read_text(encoding="utf-8")
    assert f"(v{declared['version']})" in script[:100]
    assert declared["home"] in script[:100]
    assert declared["tarball"].endswith(f"-{declared['version']}.tgz")
    assert (FOLDER / "LICENSE").read_text(encoding="utf-8").startswith("The MIT License")
    assert declared["licence"] == "MIT"
