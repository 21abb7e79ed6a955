"""A real master and a real worker on loopback, which know of the code what the zip brings them.

With two cores, another hash seed, a unit that was there before and an executor that is killed, the
model through the whole pipeline gives the same numbers as on one core from the beginning.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import pytest
from pyspark.find_spark_home import _find_spark_home

from tests.cli.golden_runs import run_golden
from tests.cli.stub_runs import DEADLINE_S, finished_units, rows
from tests.spark.watching import processes_below

QUICK_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@dataclass(frozen=True)
class Daemon:
    """A Spark daemon that runs."""

    pid: int
    log: Path

    def said(self, pattern: str) -> str:
        """Waits until the daemon has said something, and returns it."""
        deadline_s = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline_s:
            found = re.search(pattern, self.log.read_text())
            if found:
                return found[1]
            time.sleep(0.1)
        raise AssertionError(self.log.read_text())


@contextmanager
def daemon(folder: Path, kind: str, *words: str) -> Iterator[Daemon]:
    """Runs a Spark daemon far from the source."""
    folder.mkdir()
    log = folder / "log"
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    settings = {"SPARK_DAEMON_JAVA_OPTS": QUICK_JVM, "SPARK_DAEMON_MEMORY": "256m",
                "SPARK_WORKER_DIR": str(folder), "SPARK_LOCAL_IP": "127.0.0.1"}  # fmt: skip
    command = [f"{_find_spark_home()}/bin/spark-class", f"org.apache.spark.deploy.{kind}"]
    with log.open("w") as file:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", "0", "--webui-port", "0", *words],
            cwd=folder,
            env=kept | settings,
            stdout=file,
            stderr=file,
        )
        try:
            yield Daemon(process.pid, log)
        finally:
            process.terminate()
            process.wait(DEADLINE_S)


def kill_an_executor(worker: Daemon, out: Path, units: int) -> None:
    """Kills the worker's executor as soon as so many units are whole."""
    deadline_s = time.monotonic() + DEADLINE_S
    while len(finished_units(out)) < units and time.monotonic() < deadline_s:
        time.sleep(0.02)
    (executor,) = processes_below(worker.pid, "CoarseGrainedExecutorBackend")
    os.kill(executor, signal.SIGKILL)


def digests(out: Path, units: list[str]) -> list[dict[str, str]]:
    """Returns the digests of every unit's facts."""
    return [json.loads((out / "units" / name / "unit.json").read_text())["digests"]
            for name in units]  # fmt: skip


def test_a_study_on_a_standalone_cluster_gives_the_same_rows_though_an_executor_is_killed(
    golden_run: Path, tmp_path: Path
) -> None:
    there = tmp_path / "there" / "study"
    units = sorted(path.name for path in (golden_run / "units").iterdir())
    shutil.copytree(golden_run / "units" / units[2], there / "units" / units[2])
    with daemon(tmp_path / "master", "master.Master") as master:
        url = master.said(r"Starting Spark master at (spark://127\.0\.0\.1:\d+)")
        with daemon(tmp_path / "worker", "worker.Worker", "--cores", "2", url) as worker:
            worker.said(r"(Successfully registered with master)")
            killer = Thread(target=kill_an_executor, args=(worker, there, 2))
            killer.start()
            assert "1 unit reused" in run_golden(there, url, hash_seed="2")
            killer.join()
            assert worker.said(r"Executor app-\S+ finished .* (Command exited with code 137)")
    assert len(rows(golden_run)) > 10_000
    assert rows(there) == rows(golden_run)
    assert digests(there, units) == digests(golden_run, units)
    for name in ("report.html", "plots/over_time.png", "plots/over_time.svg"):
        assert (there / name).stat().st_size > 1000, "figures, too, are made of what is there"
    sources = {path.name for path in (tmp_path / "worker").rglob("*") if path.is_file()}
    assert "pessim.zip" in sources, "executors had the zip"
    assert not any(name.endswith(".py") for name in sources)
