"""How far a run is: figures of finished units, a bar of 80 columns, plain lines elsewhere."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from rich.console import Console, Group

from analysis.pipeline.unit_task import Attempt, UnitJob, run_unit_task
from analysis.running.early_figures import (
    CENSORED,
    MOST_UNITS,
    EarlyFigures,
    early_latency,
    mean_words,
)
from analysis.statistics.saturation import Verdict
from analysis.study.unit_folder import UNIT_FILE
from analysis.study.units import Unit
from analysis.terminal import progress
from analysis.terminal.progress import BarProgress, UnitProgress
from tests.planned import plan_units
from tests.stub_model import run_settings, stub_study

STUDY = stub_study(run=run_settings(measure_ns=300_000_000, replications=2))


def run(folder: Path, units: list[Unit]) -> None:
    job = UnitJob(STUDY, str(folder), "tests.stub_model:run_unit")
    for unit in units:
        assert run_unit_task(job, Attempt(unit, STUDY.points[0])) is None


def rename(file: Path, metric: str, to: str) -> None:
    facts = pq.read_table(file)
    names = pc.if_else(pc.equal(facts["metric"], metric), to, facts["metric"])
    pq.write_table(facts.set_column(facts.column_names.index("metric"), "metric", names), file)


def test_figures_follow_the_units_that_are_done(tmp_path: Path) -> None:
    units = plan_units(STUDY)
    figures = EarlyFigures(tmp_path, units)
    assert figures.text() == ""
    run(tmp_path, units[:3])
    first = figures.text()
    assert first.startswith("lock latency (ms): pipelined 0.")
    assert "sync" in first
    assert "±" not in first
    run(tmp_path, units[3:4])
    assert figures.text().count("±") == 1


def test_where_work_stopped_it_says_that_latencies_are_of_what_has_ended(tmp_path: Path) -> None:
    unit = plan_units(STUDY)[0]
    run(tmp_path, [unit])
    file = tmp_path / unit.unit_hash / UNIT_FILE
    record = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(record | {"verdict": "outage"}), encoding="utf-8")
    assert EarlyFigures(tmp_path, [unit]).text().startswith("lock latency of what has ended (ms): ")


def test_the_verdicts_of_which_it_says_so_are_those_whose_latencies_count_more() -> None:
    assert {each for each in Verdict if each.censored} == CENSORED


def test_batches_count_as_they_will_in_the_table(tmp_path: Path) -> None:
    unit = plan_units(STUDY)[0]
    run(tmp_path, [unit])
    found = early_latency(tmp_path / unit.unit_hash, 3)
    assert found is not None
    assert len(found.means_ms) == 3
    whole = f"lock latency (ms): pipelined {mean_words(found.means_ms)}"
    assert EarlyFigures(tmp_path, [unit], 3).text() == whole
    assert "±" in whole


def test_where_no_lock_is_asked_for_transactions_are_looked_at(tmp_path: Path) -> None:
    units = plan_units(STUDY)[:3]
    run(tmp_path, units)
    for unit in units[:2]:
        rename(tmp_path / unit.unit_hash / "moments.parquet", "lock_latency", "gone")
    said = EarlyFigures(tmp_path, units[:2]).text()
    assert said.startswith("transaction latency (ms): ")
    one_has_locks = EarlyFigures(tmp_path, units).text()
    assert one_has_locks.startswith("lock latency (ms): ")
    assert units[1].variant not in one_has_locks


def test_a_unit_that_cannot_be_read_costs_its_figure_and_no_more(tmp_path: Path) -> None:
    units = plan_units(STUDY)
    run(tmp_path, units[:2])
    (tmp_path / units[0].unit_hash / "moments.parquet").write_bytes(b"cut")
    assert EarlyFigures(tmp_path, units).text().startswith("lock latency (ms): sync")


def test_many_points_or_units_are_not_looked_at(tmp_path: Path) -> None:
    swept = stub_study(run=STUDY.run, points=({"workload.threads": 20}, {"workload.threads": 40}))
    many = [Unit(f"{place:064x}", 0, "sync", place) for place in range(MOST_UNITS + 1)]
    for units in (plan_units(swept), many):
        figures = EarlyFigures(tmp_path, units)
        run(tmp_path, plan_units(STUDY)[:1])
        assert figures.text() == ""


def test_a_line_has_the_figures_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.0)
    said = io.StringIO()
    with UnitProgress(Console(file=said, width=80), 3) as lines:
        assert not lines.is_due(0)
        lines.update(1, "lock latency (ms): " + "pipelined 2.30 ± 0.02, " * 4)
    (line,) = said.getvalue().splitlines()
    assert line.startswith("units: 1 of 3 in 0 s")
    assert line.count("pipelined 2.30 ± 0.02") == 4


def test_the_bar_fits_80_columns_and_goes_away() -> None:
    said = io.StringIO()
    console = Console(file=said, width=80, force_terminal=True, legacy_windows=False)
    with BarProgress(console, 1234) as bar:
        assert bar.is_due(617)
        bar.update(617, "lock latency (ms): " + "pipelined 2.30 ± 0.02, " * 9)
        assert not bar.is_due(617)
        shown = Console(file=io.StringIO(), width=80)
        shown.print(Group(*bar._bar.get_renderables()))
    assert isinstance(shown.file, io.StringIO)
    lines = shown.file.getvalue().splitlines()
    assert len(lines) == 2
    assert "617/1234" in lines[0]
    assert lines[1].endswith("…")
    assert max(map(len, lines)) <= 80
