"""What a user is told when Spark fails: one sentence from its many."""

from __future__ import annotations

import pytest

from analysis.pipeline.run_units import why_job_failed
from analysis.pipeline.session import is_master, why_not_started


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("local", True), ("local[*]", True), ("local[2]", True), ("local[2,3]", True),
        ("spark://host:7077", True), ("yarn", True), ("k8s://https://host:6443", True),
        ("", False), ("locl[2]", False), ("local[0]", False), ("local[two]", False),
        ("spark://", False), ("http://host:7077", False),
    ],
)  # fmt: skip
def test_masters(text: str, known: bool) -> None:
    assert is_master(text) == known


def test_a_missing_java_is_named() -> None:
    said = why_not_started("local[*]", "/opt/none/bin/java: not found\nCMD: bad subscript\n", "")
    assert said.startswith("Spark did not start on local[*]: /opt/none/bin/java: not found; it nee")
    assert "Java 17" in said
    assert "Java 17" in why_not_started("local[*]", "", "Java gateway process exited")


def test_an_unreachable_master_is_no_missing_java() -> None:
    log = "spark: ERROR Backend: All masters are unresponsive! Giving up.\n   at a.b(C.scala)\n"
    assert why_not_started("spark://h:1", log, "") == (
        "Spark did not start on spark://h:1: spark: ERROR Backend: All masters are unresponsive! "
        "Giving up"
    )


def test_a_broken_job_is_told_by_its_cause() -> None:
    lost = "An error occurred.\norg.apache.spark.SparkException: Python worker exited unexpectedly"
    assert "ended unexpectedly" in why_job_failed(lost)
    assert why_job_failed("An error.\nCaused by: a.B: x\nCaused by: c.D: y") == "c.D: y"
    assert why_job_failed("no row\n") == "no row"
    assert why_job_failed("") == "no reason given"
