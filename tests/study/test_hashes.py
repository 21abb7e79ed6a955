"""Shipped scenarios keep their hashes, so that results of one version are found by the next.

``tests/testdata/scenario/hashes.txt`` has, by file, the hash of all its cases and that of the study
written out with every default. A hash may move only with a change of what is simulated.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import yaml

from analysis.study.study import canonical
from tests.datadriven import TESTDATA
from tests.study.study_files import load_on_diagonal

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
FILES = sorted(file for file in SCENARIOS.rglob("*.yaml") if file.parent.name != "profiles")
HASHES = TESTDATA / "scenario" / "hashes.txt"


def line_of(file: Path) -> str:
    study = load_on_diagonal(file)
    written = sha256(canonical(yaml.safe_load(study.resolved_yaml())).encode()).hexdigest()
    name = file.relative_to(SCENARIOS).with_suffix("").as_posix()
    return f"{name} {study.digest[:16]} {written[:16]}"


def test_shipped_scenarios_keep_their_hashes(*, rewrite: bool) -> None:
    printed = "".join(f"{line_of(file)}\n" for file in FILES)
    if rewrite:
        HASHES.write_text(printed, encoding="utf-8")
    assert printed == HASHES.read_text(encoding="utf-8")
