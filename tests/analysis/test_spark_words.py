"""What a user is told when Spark fails: one sentence from its many."""

from __future__ import annotations

import logging

import pytest

from analysis.pipeline.session import hang_ups_ignored
from analysis.pipeline.spark_jobs import not_written, why_job_failed, why_not_started
from analysis.pipeline.spark_master import complaint_about_master, is_on_loopback, with_attempts


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("local", True), ("local[*]", True), ("local[2]", True), ("local[2,3]", True),
        ("spark://host:7077", True), ("yarn", True), ("k8s://https://host:6443", True),
        ("local-cluster[2,1,1024]", True), ("local-cluster[2,1]", False),
        ("", False), ("locl[2]", False), ("local[0]", False), ("local[two]", False),
        ("spark://", False), ("http://host:7077", False),
    ],
)  # fmt: skip
def test_masters(text: str, known: bool) -> None:
    assert (not complaint_about_master(text)) == known


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


def test_what_the_jvm_threw_is_no_missing_java() -> None:
    log = (
        "WARNING: Using incubator modules: jdk.incubator.vector\n"
        'Exception in thread "main" org.apache.spark.SparkException: When running with master '
        "'yarn' either HADOOP_CONF_DIR or YARN_CONF_DIR must be set in the environment.\n  at a.b\n"
    )
    said = why_not_started("yarn", log, "")
    assert said == (
        "Spark did not start on yarn: When running with master 'yarn' either HADOOP_CONF_DIR or "
        "YARN_CONF_DIR must be set in the environment"
    )


def test_what_python_was_told_comes_before_what_the_jvm_says_first() -> None:
    log = 'Setting default log level to "WARN".\nTo adjust logging level use sc.setLogLevel.\n'
    said = why_not_started("local[*]", log, "Cannot run multiple SparkContexts at once; existing")
    assert said == (
        "Spark did not start on local[*]: Cannot run multiple SparkContexts at once; existing"
    )
    thrown = "An error occurred while calling None.a.B.\n: java.net.BindException: no port\n\tat x"
    assert why_not_started("local", log, thrown) == (
        "Spark did not start on local: java.net.BindException: no port"
    )
    ended = "[JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number."
    assert "java: not found; it needs Java 17" in why_not_started("x", "java: not found\n", ended)


def test_only_while_spark_is_stopped_nobody_hears_that_the_jvm_has_ended(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def hang_up() -> None:
        everybody = logging.getLogger()
        where = (everybody.name, logging.ERROR, "py4j/java_gateway.py", 1)
        everybody.handle(everybody.makeRecord(*where, "Exception while sending command.", (), None))

    with hang_ups_ignored():
        hang_up()
        logging.getLogger().error("the user's own")
    assert caplog.messages == ["the user's own"]
    hang_up()
    assert caplog.messages == ["the user's own", "Exception while sending command."]


def test_a_broken_job_is_told_by_its_cause() -> None:
    lost = "An error occurred.\norg.apache.spark.SparkException: Python worker exited unexpectedly"
    assert "before they had begun a unit" in why_job_failed(lost)
    assert "same minor version" in why_job_failed("a.B: [PYTHON_VERSION_MISMATCH] Python in worker")
    missing = "x\nModuleNotFoundError: No module named 'pyarrow'"
    assert "requirements.lock" in why_job_failed(missing)
    assert why_job_failed("An error.\nCaused by: a.B: x\nCaused by: c.D: y") == "c.D: y"
    assert why_job_failed("no row\n") == "no row"
    assert why_job_failed("") == "no reason given"


def test_a_full_disk_is_found_in_a_workers_words() -> None:
    words = "\n".join(
        (
            "org.apache.spark.api.python.PythonException: Traceback (most recent call last):",
            '  File "x.py", line 1, in f',
            "analysis.study.unit_folder.UnitNotWrittenError: [Errno 28] No space left on device: "
            "'/r/units'",
            "",
            "  at org.apache.spark.X",
        )
    )
    error = not_written(words)
    assert error is not None
    assert (error.errno, error.strerror, error.filename) == (
        28, "No space left on device", "/r/units",
    )  # fmt: skip
    assert not_written("OSError: [Errno 28] No space left on device") is None


def test_a_driver_that_others_must_reach_is_not_bound_to_loopback() -> None:
    here = ("local[2]", "local-cluster[2,1,1024]", "spark://127.0.0.1:7077", "spark://localhost:1")
    assert all(is_on_loopback(master) for master in here)
    away = ("spark://host:7077", "spark://127.0.0.1:1,host:2", "yarn", "k8s://https://127.0.0.1:1")
    assert not any(is_on_loopback(master) for master in away)


def test_a_local_master_tries_a_dead_task_again() -> None:
    assert with_attempts("local", 4) == "local[1,4]"
    assert with_attempts("local[*]", 4) == "local[*,4]"
    assert with_attempts("local[2,1]", 4) == "local[2,4]"
    for other in ("local-cluster[2,1,1024]", "spark://h:1", "yarn"):
        assert with_attempts(other, 4) == other
