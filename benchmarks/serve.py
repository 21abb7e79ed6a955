"""What pages of ``serve`` take: an index of 10,000 studies, the explorer, a run that is watched.

The server is a process of its own, and its CPU time is Linux' account of it. A run is watched as a
page does it: the server is asked for its progress once in 1.5 s of the unit's CPU time. Slices of
the unit with and without take turns, so that a slow minute of the machine meets both.

Run it with ``python -m benchmarks serve [--studies 10000] [--rounds 6]``.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter, process_time
from typing import Final
from urllib.request import urlopen

from analysis.study.load import load_study
from analysis.study.parquet_sink import PROGRESS_FILE, ParquetSink
from analysis.study.study_folder import folder_lock
from analysis.study.unit_folder import TEMPORARY_PREFIX
from sim.simulation import SimulatedUnit

ROOT: Final = Path(__file__).resolve().parents[1]
WATCHED: Final = ROOT / "benchmarks" / "tiny.yaml"
ASKED_EVERY_S: Final = 1.5
"""As ``live.js`` does."""
_STEP_NS: Final = 20_000_000
_ANSWERS: Final = range(20, 60, 4)
"""Numbers of threads that the explorer is asked about."""


class Server:
    """A server's process."""

    def __init__(self, results: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "run_sim.py", "serve", "--results", str(results)],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=os.environ | {"COLUMNS": "500", "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        self._address = next(self._addresses())

    def _addresses(self) -> Iterator[str]:
        for line in self._process.stdout or ():
            yield from re.findall(r"http://127\.0\.0\.1:\d+/[\w-]+", line)

    def get(self, path: str) -> bytes:
        """Returns what is at an address below the token."""
        with urlopen(f"{self._address}{path}", timeout=300) as answer:
            content: bytes = answer.read()
        return content

    def cpu_s(self) -> float:
        """Returns the CPU time that it has taken so far. Source: proc(5)."""
        said = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(said[11]) + int(said[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """Ends it."""
        self._process.terminate()
        self._process.wait()


@contextmanager
def serving(results: Path) -> Iterator[Server]:
    """Serves a folder."""
    server = Server(results)
    try:
        yield server
    finally:
        server.end()


def make_studies(results: Path, count: int) -> None:
    """Makes folders that have what an index shows."""
    for number in range(count):
        folder = results / f"study_{number}"
        folder.mkdir(parents=True)
        answer = {
            "study": folder.name, "question": f"What does setting {number} change?",
            "answer": ["Nothing that could be told from noise."] * 3, "outcome": "passed",
        }  # fmt: skip
        (folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")


def took(server: Server, path: str) -> str:
    """Returns seconds by the clock and of the server's CPU that an answer takes."""
    cpu_s, begun_s = server.cpu_s(), perf_counter()
    server.get(path)
    return f"{perf_counter() - begun_s:.2f} s, {server.cpu_s() - cpu_s:.2f} s of CPU"


def explorer(server: Server) -> str:
    """Returns seconds of an answer to a turn of a control, the first one left out."""
    path = "/api/answer?base=scenario:rfc77&threads="
    server.get(f"{path}10")
    cpu_s, clock_s = server.cpu_s(), []
    for threads in _ANSWERS:
        begun_s = perf_counter()
        server.get(f"{path}{threads}")
        clock_s.append(perf_counter() - begun_s)
    mean_cpu_s = (server.cpu_s() - cpu_s) / len(_ANSWERS)
    return f"median {median(clock_s):.3f} s, slowest {max(clock_s):.3f} s; CPU {mean_cpu_s:.3f} s"


def watched_study(folder: Path) -> Path:
    """Runs a small study, and makes it one of which half is done; returns a unit's folder."""
    command = [sys.executable, "run_sim.py", "run", str(WATCHED), "--no-plots"]
    command += ["--master", "local[1]", "--out", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    units = sorted((folder / "units").iterdir())
    for unit in units[len(units) // 2 :]:
        shutil.rmtree(unit)
    running = folder / "units" / f"{TEMPORARY_PREFIX}{units[-1].name}-1"
    running.mkdir()
    (running / PROGRESS_FILE).write_text("1000000 20000000", encoding="utf-8")
    return running


def watching(server: Server, study: str, rounds: int, scratch: Path) -> Iterator[float]:
    """Yields, a pair of slices each, what being watched adds to a unit's CPU time, as a share."""
    loaded = load_study(ROOT / "scenarios" / "rfc77.yaml", ["run.measure=10m"])
    scenario = loaded.scenario(loaded.points[0], next(iter(loaded.variants)))
    with ParquetSink(scratch) as sink:
        unit = SimulatedUnit(scenario, 0, sink)
        unit.env.run_until(300_000_000)

        def slice_s() -> float:
            begun_s = process_time()
            while process_time() - begun_s < ASKED_EVERY_S:
                unit.env.run_until(unit.env.now_ns + _STEP_NS)
            return process_time() - begun_s

        server.get(f"/api/live/{study}")
        for _ in range(rounds):
            alone_ns, alone_s = unit.env.now_ns, slice_s()
            alone = alone_s / (unit.env.now_ns - alone_ns)
            cpu_s = server.cpu_s()
            for _ in range(4):
                server.get(f"/api/live/{study}")
            server_s = (server.cpu_s() - cpu_s) / 4  # the account counts in hundredths
            watched_ns, watched_s = unit.env.now_ns, slice_s()
            watched = (watched_s + server_s) / (unit.env.now_ns - watched_ns)
            yield watched / alone - 1


def main() -> None:
    """Prints all figures."""
    parser = ArgumentParser(prog="python -m benchmarks serve", description=__doc__)
    parser.add_argument("--studies", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=6)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pessim-bench-") as scratch:
        results = Path(scratch) / "results"
        make_studies(results, asked.studies)
        with serving(results) as server:
            print(f"index of {asked.studies:,} studies, first time: {took(server, '/')}")
            print(f"again: {took(server, '/')}")
            print(f"first search: {took(server, '/?q=setting+77')}")
            print(f"explorer: {explorer(server)}")
        study = Path(scratch) / "watched" / "tiny"
        watched_study(study)
        with serving(study.parent) as server, folder_lock(study):
            (Path(scratch) / "unit").mkdir()
            shares = list(watching(server, study.name, asked.rounds, Path(scratch) / "unit"))
    low, _, high = quantiles(shares, n=4)
    print(f"a run that is watched: {median(shares):+.2%} of CPU ({len(shares)} pairs, quartiles "
          f"{low:+.2%} and {high:+.2%})")  # fmt: skip


if __name__ == "__main__":
    main()
