"""Sections about a whole study: what they become, that they reach the command line, and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.metrics.catalogue import MetricKey
from analysis.study.load import load_study
from analysis.study.run import Precision, Target
from analysis.study.sections import Capacity, NodePrices, Objective, Range, Sensitivity
from analysis.study.study import Study
from sim.scenario import ScenarioError
from tests.study.study_files import BASE, COMPARE, study_of, told

OPEN = BASE.replace("threads: 4", "rate: 300/s")
CAPACITY = """\
capacity:
  slo: {lock_latency_ms.p99: 5ms, txn_latency_ms.new_order.p95: 100000us, txn_aborts: 0.1%}
  load: workload.rate
  between: [200/s, 4000/s]
  prices: {i3.4xlarge: {store: 0.9, tidb_node: 0.7}}
"""
SENSITIVITY = """\
sensitivity:
  factors:
    hardware.disk.raft.append.mean: {between: [100us, 1ms], scale: log}
    workload.threads: {between: [10, 400]}
  outcomes: [lock_latency_ms, disk_write_bytes_per_txn]
"""


def test_precision_is_relative_and_ends_somewhere(tmp_path: Path) -> None:
    text = BASE.replace("3s", "3s, replications: 4, precision: {lock_latency_ms.p99: 5%}")
    study = study_of(tmp_path, text)
    p99 = MetricKey("lock_latency_ms", "all", "p99")
    assert (study.precision, study.replications) == (Precision((Target(p99, 0.05),), 50), 4)
    assert study_of(tmp_path, text, "run.max_replications=7").precision == Precision(
        (Target(p99, 0.05),), 7
    )
    many = study_of(tmp_path, text, "run.replications=70").precision
    assert many is not None
    assert many.most_replications == 70


def test_ratios_that_are_claimed_are_precise_by_themselves_once(tmp_path: Path) -> None:
    claim = "{metric: lock_latency_ms, variant: b, against: a, below: 1"
    text = f"{BASE}{COMPARE}expect:\n  - {claim}}}\n  - {claim}, stat: p99}}\n"
    assert _ratio_widths(study_of(tmp_path, text)) == {"mean": [0.02], "p99": [0.05]}
    wide, wider = f"  - {claim}, precision: 4%}}\n", f"  - {claim}, precision: 7%}}\n"
    for both in (wide + wider, wider + wide, wide + wide):
        study = study_of(tmp_path, f"{BASE}{COMPARE}expect:\n{both}")
        assert _ratio_widths(study) == {"mean": [0.04]}
    fixed = study_of(tmp_path, text, "run.replications=3")
    assert fixed.precision is None


def test_what_is_claimed_everywhere_is_not_asked_for_at_a_point_again(tmp_path: Path) -> None:
    claim = "{metric: lock_latency_ms, variant: b, against: a, below: 1"
    sweep = "sweep: {grid: {workload.threads: [5, 10]}}\n"
    at_point, everywhere = f"  - {claim}, at: {{workload.threads: 5}}}}\n", f"  - {claim}}}\n"
    for both in (at_point + everywhere, everywhere + at_point):
        study = study_of(tmp_path, f"{BASE}{COMPARE}{sweep}expect:\n{both}")
        assert _ratio_widths(study) == {"mean": [0.02]}
    narrow = at_point.replace("below", "precision: 1%, below")
    study = study_of(tmp_path, f"{BASE}{COMPARE}{sweep}expect:\n{narrow}{everywhere}")
    assert _ratio_widths(study) == {"mean": [0.01, 0.02]}


def _ratio_widths(study: Study) -> dict[str, list[float]]:
    assert study.precision is not None
    widths: dict[str, list[float]] = {}
    for target in study.precision.targets:
        widths.setdefault(target.key.stat, []).append(target.width)
    return widths


def test_a_first_round_has_eight_values_in_batches_too(tmp_path: Path) -> None:
    text = BASE.replace("3s", "3s, warmup: 1s, batches: 3, precision: {lock_latency_ms: 5%}")
    study = study_of(tmp_path, text)
    assert (study.run.batches, study.replications) == (3, 3)
    assert study_of(tmp_path, text, "run.batches=20").replications == 2
    assert study_of(tmp_path, text, "run.measure=200ms").run.batches == 2, "a window each"
    plain = study_of(tmp_path, text, "run.batches=1")
    variant = next(iter(study.variants))
    assert study.config_hash({}, variant, 0) == plain.config_hash({}, variant, 0)


@pytest.mark.parametrize(("when", "batches"), [("at: 2s", 1), ("every: 1s", 3), ("at: 9s", 3)])
def test_parts_of_a_run_with_an_operation_at_a_fixed_time_are_no_replications(
    tmp_path: Path, when: str, batches: int
) -> None:
    text = BASE.replace("3s", "3s, warmup: 1s, batches: 3")
    text += f"operations: [{{{when}, do: transfer_leader, region: random}}]\n"
    assert study_of(tmp_path, text).run.batches == batches


def test_precision_is_set_from_the_command_line(tmp_path: Path) -> None:
    whole = study_of(tmp_path, BASE, "run.precision={txn_per_s: 2%}").precision
    by_key = study_of(tmp_path, BASE, "run.precision.txn_per_s=2%").precision
    assert whole == by_key == Precision((Target(MetricKey("txn_per_s"), 0.02),), 50)
    by_key = study_of(tmp_path, BASE, "run.precision.lock_latency_ms.p99=2%").precision
    assert by_key is not None
    assert list(map(str, by_key.targets)) == ["lock_latency_ms.p99"]


def test_the_option_replications_means_the_first_round(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(BASE, encoding="utf-8")
    study = load_study(tmp_path / "x.yaml", ["run.precision={txn_per_s: 2%}"], replications=3)
    assert study.replications == 3
    with pytest.raises(ScenarioError, match=r"--replications 1: run\.replications: an interval"):
        load_study(tmp_path / "x.yaml", ["run.precision={txn_per_s: 2%}"], replications=1)


def test_neither_precision_nor_questions_are_in_a_units_hash(tmp_path: Path) -> None:
    plain = study_of(tmp_path, OPEN).config_hash({}, "in_memory", 0)
    precise = study_of(tmp_path, OPEN, "run.precision={txn_per_s: 2%}")
    assert precise.config_hash({}, "in_memory", 0) == plain
    assert study_of(tmp_path, OPEN + CAPACITY).config_hash({}, "in_memory", 0) == plain


def test_capacity_has_its_limits_in_the_metrics_unit(tmp_path: Path) -> None:
    assert study_of(tmp_path, OPEN + CAPACITY).capacity == Capacity(
        slo=(
            Objective(MetricKey("lock_latency_ms", "all", "p99"), 5.0),
            Objective(MetricKey("txn_latency_ms", "new_order", "p95"), 100.0),
            Objective(MetricKey("txn_aborts_per_txn"), 0.001),
        ),
        load="workload.rate",
        between=(200.0, 4000.0),
        tolerance=0.05,
        prices={"i3.4xlarge": NodePrices(0.9, 0.7)},
    )


def test_limits_of_other_units(tmp_path: Path) -> None:
    slo = "{lock_table_bytes.max: 1MiB, disk_write_bytes_per_s: 2MB/s, fsync_per_s: 60/min, "
    slo += "disk_busy.disk: 0.9, locks_lost: 0, txn_aborts: 12%}"
    study = study_of(tmp_path, OPEN + CAPACITY, f"capacity.slo={slo}")
    assert study.capacity is not None
    assert {str(part.key): part.limit for part in study.capacity.slo} == {
        "lock_table_bytes.max": 2**20,
        "disk_write_bytes_per_s": 2e6,
        "fsync_per_s": 1,
        "disk_busy.disk": 0.9,
        "locks_lost": 0,
        "txn_aborts_per_txn": 0.12,
    }
    assert study_of(tmp_path, study.resolved_yaml()) == study


@pytest.mark.parametrize(
    ("limit", "told_to"),
    [
        ("0.1", "0.1 has no unit; write 0.1% or 10%"),
        ("12", "12 has no unit; write 12%"),
        ("500", "500 has no unit; write, of all transactions, 0.1%"),
    ],
)
def test_aborts_without_a_percent_sign_are_not_taken_for_a_share_or_a_count(
    limit: str, told_to: str, tmp_path: Path
) -> None:
    said = told(tmp_path, OPEN + CAPACITY, f"capacity.slo={{txn_aborts: {limit}}}")
    assert said.endswith(f"capacity.slo.txn_aborts: {told_to}")


@pytest.mark.parametrize(
    ("question", "where"),
    [
        ("capacity={slo: {txn_latency_ms.neworder.p95: 5ms}, load: workload.rate, "
         "between: [1/s, 2/s]}", "capacity.slo.txn_latency_ms.neworder.p95"),
        ("run.precision={txn_per_s.neworder: 5%}", "run.precision.txn_per_s.neworder"),
        ("sensitivity={outcomes: [txn_latency_ms.neworder], factors: {workload.rate: "
         "{between: [100/s, 200/s]}, cluster.regions: {between: [10, 20]}}}",
         "sensitivity.outcomes[0]"),
    ],
)  # fmt: skip
def test_a_number_of_a_misspelt_transaction_is_refused_before_anything_runs(
    question: str, where: str, tmp_path: Path
) -> None:
    said = told(tmp_path, OPEN, question)
    assert said.endswith(f"{where}: no transaction 'neworder'; did you mean new_order?")
    study_of(tmp_path, OPEN, question.replace("neworder", "new_order"))


def test_a_transaction_that_one_case_has_may_be_asked_for(tmp_path: Path) -> None:
    slo = "capacity.slo={txn_latency_ms.delivery: 5ms}"
    swept = "sweep={grid: {workload.mix.delivery: [0, 4]}}"
    assert study_of(tmp_path, OPEN + CAPACITY, slo, swept).capacity is not None


def test_capacity_is_set_from_the_command_line(tmp_path: Path) -> None:
    search = study_of(
        tmp_path,
        OPEN + CAPACITY,
        "capacity.between=[1/s, 2/s]",
        "capacity.slo.lock_latency_ms.p99=7ms",
        "capacity.prices.i3.4xlarge.store=5",
    ).capacity
    assert search is not None
    assert (search.low, search.high) == (1.0, 2.0)
    assert search.slo[0].limit == 7.0
    assert search.prices == {"i3.4xlarge": NodePrices(5.0, 0.7)}


def test_a_claim_on_the_capacity_needs_a_search(tmp_path: Path) -> None:
    claim = "expect: [{metric: capacity_load, variant: b, against: a, above: 1}]\n"
    study = study_of(tmp_path, OPEN + CAPACITY + COMPARE + claim)
    assert study.expect[0].key == MetricKey("capacity_load", stat="max")
    assert study_of(tmp_path, study.resolved_yaml()) == study
    said = told(tmp_path, OPEN + COMPARE + claim)
    assert "expect[0].metric: is what a search finds; write a section capacity as well" in said


def test_a_price_for_every_profile_that_a_case_has(tmp_path: Path) -> None:
    swept = OPEN + CAPACITY + "sweep: {grid: {hardware.profile: [i3.4xlarge, gp3_max]}}\n"
    assert "no price of gp3_max" in told(tmp_path, swept)
    study_of(tmp_path, swept.replace("i3.4xlarge: {store", "all: {store"))


def test_any_load_makes_a_scenario_without_being_a_point(tmp_path: Path) -> None:
    study = study_of(tmp_path, OPEN + CAPACITY + COMPARE)
    assert study.capacity is not None
    point = {"workload.rate": study.capacity.load_value(1234.5)}
    assert study.points == ({},)
    assert study.scenario(point, "b").workload.rate_per_s == 1230.0
    assert not study.scenario(point, "b").tikv.in_memory
    assert study.config_hash(point, "b", 0) != study.config_hash({}, "b", 0)


def test_a_case_asked_for_has_the_hash_of_the_same_case_in_a_file(tmp_path: Path) -> None:
    asked = study_of(tmp_path, OPEN).config_hash({"workload.rate": "500/s"}, "in_memory", 2)
    said = study_of(tmp_path, OPEN, "workload.rate=500/s").config_hash({}, "in_memory", 2)
    assert asked == said


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ({"workload.rate": "0/s"}, "workload.rate: 0/s is too small"),
        ({"workload.raet": "5/s"}, "did you mean rate?"),
        ({"run.seed": 5}, "all variants and points share run"),
    ],
)
def test_a_point_that_makes_no_scenario_is_refused_each_time(
    tmp_path: Path, point: dict[str, object], message: str
) -> None:
    study = study_of(tmp_path, OPEN)
    for _ in range(2):
        with pytest.raises(ScenarioError) as caught:
            study.scenario(point, "in_memory")
        assert message in str(caught.value)
        assert str(caught.value).startswith("point {")
    with pytest.raises(KeyError):
        study.scenario({}, "sync")


def test_sensitivity_has_ranges_and_defaults(tmp_path: Path) -> None:
    study = study_of(tmp_path, BASE + SENSITIVITY + COMPARE, "run.seed=9")
    assert study.sensitivity == Sensitivity(
        factors=(
            Range("hardware.disk.raft.append.mean", "100us", "1ms", "log"),
            Range("workload.threads", 10, 400, "linear"),
        ),
        outcomes=(MetricKey("lock_latency_ms"), MetricKey("disk_write_bytes_per_txn")),
        trajectories=6,
        levels=4,
        keep=2,
        samples=16,
        seed=9,
    )
    middle = {each.key: each.at(0.5) for each in study.sensitivity.factors}
    assert study.scenario(middle, "a").workload.threads == 205


def test_sensitivity_is_set_from_the_command_line(tmp_path: Path) -> None:
    text = BASE + SENSITIVITY
    given = "sensitivity.factors.workload.threads.between=[1, 2]"
    study = study_of(tmp_path, text, given, "sensitivity.factors.cluster.stores={between: [3, 4]}")
    assert study.sensitivity is not None
    assert study.sensitivity.factors[1:] == (
        Range("workload.threads", 1, 2),
        Range("cluster.stores", 3, 4),
    )
    assert "sensitivity varies it" in told(tmp_path, text, "workload.threads=5")
