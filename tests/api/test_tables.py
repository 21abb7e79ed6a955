"""Tables of a study made by hand: they are of one edition, tidy, and say why a ratio is missing."""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pytest

import pessim
from analysis.api.ratios import warn_of_capacity, warn_of_gaps
from analysis.api.study import expectation_table
from analysis.metrics.catalogue import MetricKey
from pessim import Study, StudyFolderError

CLAIM: Final[Mapping[str, Any]] = {
    "point": {"workload.threads": 4, "hardware.network.latency": "2ms"}, "metric": "txn_per_s",
    "class": "all", "stat": "mean", "variant": "in_memory", "against": None, "below": None,
    "above": 100, "value": 120.5, "holds": True, "refuted": False, "reason": "120.5 [119, 122]",
}  # fmt: skip
POINTS: Final = [CLAIM["point"], {"workload.threads": 8, "hardware.network.latency": "2ms"}]
ROW: Final[Mapping[str, Any]] = {
    "point": "{}", "metric": "txn_failures", "class": "all", "stat": "mean", "value": 3.0,
    "refused": None, "at_least": False,
}  # fmt: skip


def made(folder: Path, made_of: str = "facts") -> Path:
    """Makes the folder of a study with a summary of one row."""
    folder.mkdir(exist_ok=True)
    (folder / "scenario.yaml").write_text("about: What?\n")
    (folder / "summary.json").write_text(
        json.dumps({"study": "it", "verdict": {"outcome": "passed"}, "expectations": []})
    )
    (folder / "manifest.json").write_text(json.dumps({"made_of": made_of, "wall_s": {}}))
    (folder / "plan.json").write_text(json.dumps({"points": POINTS, "units": []}))
    pd.DataFrame([ROW]).to_parquet(folder / "summary.parquet")
    return folder


class TestTheFolderIsRunAgain:
    def test_with_other_results_nothing_is_mixed(self, tmp_path: Path) -> None:
        study = pessim.open(made(tmp_path))
        assert len(study.summary) == 1
        made(tmp_path, made_of="other facts")
        message = "was run again since this study was opened, and has other results now; open it"
        for read in (lambda: study.units, study.compare, lambda: study.plot.lock_latency):
            with pytest.raises(StudyFolderError, match=message):
                read()
        assert len(study.summary) == 1, "what was read stays what it was"
        assert len(pessim.open(tmp_path).summary) == 1

    def test_the_next_question_counts_before_its_results_are_there(self, tmp_path: Path) -> None:
        study = pessim.open(made(tmp_path))
        (tmp_path / "scenario.yaml").write_text("about: What else?\n")
        with pytest.raises(StudyFolderError, match="open it again"):
            _ = study.summary

    def test_with_the_same_results_it_may_be_read_on(self, tmp_path: Path) -> None:
        study = pessim.open(made(tmp_path))
        said = {"made_of": "facts", "wall_s": {"total": 12.5}}
        (tmp_path / "manifest.json").write_text(json.dumps(said))
        assert len(study.summary) == 1


class TestExpectations:
    def test_they_can_be_grouped_and_merged_by_what_is_swept(self) -> None:
        other = {**CLAIM, "point": POINTS[1], "value": None, "holds": False}
        table = expectation_table([CLAIM, other], POINTS)
        assert table.groupby("point")["holds"].all().tolist() == [True, False]
        assert table["workload.threads"].tolist() == [4, 8]
        assert table["hardware.network.latency_ms"].tolist() == [2.0, 2.0]
        assert table["value"].isna().tolist() == [False, True]

    def test_without_a_claim_the_columns_are_the_same(self, tmp_path: Path) -> None:
        some, none = expectation_table([CLAIM], POINTS), pessim.open(made(tmp_path)).expectations
        assert list(none.columns) == list(some.columns)
        assert none.empty
        assert bool(none["holds"].all()) is True
        assert none.dtypes["holds"] == some.dtypes["holds"] == "bool"

    def test_a_claim_about_no_point_of_the_study_has_a_row(self) -> None:
        table = expectation_table([{**CLAIM, "point": {}}], POINTS)
        assert table["point"].tolist() == ["{}"]
        assert table["workload.threads"].isna().all()


def rows(*said: Mapping[str, Any]) -> pd.DataFrame:
    return pd.DataFrame([{**ROW, **each} for each in said])


def chosen(*cases: tuple[str, str]) -> pd.DataFrame:
    return pd.DataFrame(list(cases), columns=["point", "variant"])


A, B = {"variant": "a"}, {"variant": "b"}


@pytest.mark.parametrize(
    ("summary", "why"),
    [
        ([A | {"value": 0.0}, B | {"value": 0.0}], "it is 0 in all variants, so there is no ratio"),
        ([A | {"value": 0.0}, B], "it is 0 in a, so there is no ratio"),
        ([A | {"at_least": True}, B], "of a only a lower bound is known, since work had not ended"),
        ([A, B | {"refused": "overloaded"}], "that of b is refused, overloaded"),
        ([B], "only b has it"),
        ([A], "only a has it"),
        ([A, B], "no replication has it of both"),
    ],
)
def test_why_there_is_no_ratio(summary: Sequence[Mapping[str, Any]], why: str) -> None:
    with pytest.warns(UserWarning, match=f"^txn_failures cannot be compared: {why}$"):
        warn_of_gaps(MetricKey("txn_failures"), rows(*summary), chosen(), "a", "a")


def test_a_part_that_is_missing_is_named() -> None:
    points = [json.dumps({"workload.threads": threads}) for threads in (4, 8, 16)]
    summary = rows(*(
        {"point": point, "variant": variant, "value": float(point == points[0])}
        for point in points for variant in "ab"
    ))  # fmt: skip
    of = MetricKey("txn_failures")
    message = r"failures of b at workload.threads = 8 \(and 1 more\) cannot be .*: it is 0 in all"
    with pytest.warns(UserWarning, match=message):
        warn_of_gaps(of, summary, chosen((points[0], "b")), "a", "a")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_gaps(of, summary, chosen(*((point, "b") for point in points)), "a", "a")


def test_a_capacity_has_the_study_s_own_baseline() -> None:
    capacity = {"metric": "capacity_load", "stat": "max"}
    summary = rows(A | capacity, B | capacity)
    message = "is compared with the study's own baseline, a, and with no other"
    key = MetricKey.parse_reported("capacity_load")
    with pytest.warns(UserWarning, match=f"capacity_load.max cannot be compared: .* {message}"):
        warn_of_gaps(key, summary, chosen(), "b", "a")
    with pytest.warns(UserWarning, match=f"capacity_load are left out: .* {message}"):
        warn_of_capacity(summary, "a")


def test_a_table_that_was_not_asked_for_is_an_attribute_that_is_not_there(tmp_path: Path) -> None:
    study = Study(str(made(tmp_path)))
    assert not hasattr(study, "capacity")
    for name in ("units", "comparisons"):
        pd.DataFrame([ROW]).to_parquet(tmp_path / f"{name}.parquet")
    assert "summary" in dict(inspect.getmembers(study))
    with pytest.raises(StudyFolderError, match="has no section sensitivity; add it"):
        _ = study.sensitivity
