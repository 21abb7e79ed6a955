"""Where values come from: extended files, the file, the command line, variants, points."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
import yaml

from analysis.study.load import load_study
from analysis.study.study import Study
from sim.distributions import Constant, Exponential
from sim.scenario import ScenarioError

BASE = """\
about: Which?
cluster: {stores: 5}
tikv: {pessimistic-txn: {wake-up-delay-duration: 5ms}}
workload: {kind: tpcc, warehouses: 10, threads: 4, think_time: 1ms}
"""


def study_of(folder: Path, text: str, *overrides: str, name: str = "x.yaml") -> Study:
    (folder / name).write_text(text, encoding="utf-8")
    return load_study(folder / name, overrides)


def problems_of(folder: Path, text: str, *overrides: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        study_of(folder, text, *overrides)
    return str(caught.value)


def test_without_compare_the_only_variant_is_called_as_its_lock_mode(tmp_path: Path) -> None:
    assert list(study_of(tmp_path, BASE).variants) == ["in_memory"]
    off = "tikv.pessimistic-txn.pipelined=false"
    assert list(study_of(tmp_path, BASE, off).variants) == ["sync"]


def test_the_command_line_wins_over_the_file(tmp_path: Path) -> None:
    study = study_of(
        tmp_path,
        BASE,
        "workload.threads=7",
        "run.measure=3s",
        "tikv.pessimistic-txn.wake-up-delay-duration=7ms",
        "workload.think_time={mean: 2ms}",
        "hardware.disk.raft.write_iops=5",
    )
    scenario = study.variants["in_memory"]
    assert scenario.workload.threads == 7
    assert scenario.workload.think_time == Exponential(2_000_000)
    assert scenario.run.measure_ns == 3_000_000_000
    assert scenario.tikv.wake_up_delay_ns == 7_000_000
    assert scenario.hardware.raft_disk.write_iops == 5
    assert scenario.hardware.raft_disk.name == "nvme_i3_4xlarge"


def test_seed_and_replications_have_options_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(BASE, encoding="utf-8")
    study = load_study(tmp_path / "x.yaml", seed=9, replications=2)
    assert (study.variants["in_memory"].run.seed, study.replications) == (9, 2)
    with pytest.raises(ScenarioError, match=r"--replications 0: run\.replications"):
        load_study(tmp_path / "x.yaml", replications=0)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("workload.threads", "must be key=value; write workload.threads=50"),
        ("=5", "must be key=value"),
        ("a..b=5", "must be key=value"),
        ("workload.treads=5", "did you mean threads?"),
        ("workload.threads=0", "workload.threads: must be 1 to"),
        ("workload.threads=[1", "workload.threads: not YAML"),
        ("workload.think_time=5", "5 has no unit"),
        ("workload.think_time=!!python/name:os.system", "tag"),
    ],
)
def test_a_wrong_override_is_told_with_its_text(
    tmp_path: Path, override: str, message: str
) -> None:
    told = problems_of(tmp_path, BASE, override)
    assert told.startswith(f"--set {override}")
    assert message in told


def test_an_override_replaces_a_list_as_a_whole(tmp_path: Path) -> None:
    listed = BASE + "expect: [{metric: txn_per_s, above: 1}]\n"
    told = problems_of(tmp_path, listed, "expect.0.above=2")
    assert told == (
        "--set expect.0.above=2: expect.0.above: expect is a list; set it as a whole: expect=[...]"
    )


def test_an_override_in_vain_is_refused(tmp_path: Path) -> None:
    swept = BASE + "sweep: {grid: {workload.threads: [1, 2]}}\n"
    assert "the sweep overrides it" in problems_of(tmp_path, swept, "workload.threads=5")


def test_a_file_adds_to_the_one_it_extends(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(BASE, encoding="utf-8")
    text = "extends: base.yaml\nworkload: {threads: 9}\ntikv: {raftstore.store-pool-size: 3}\n"
    scenario = study_of(tmp_path, text).variants["in_memory"]
    assert scenario.cluster.stores == 5
    assert scenario.workload.threads == 9
    assert scenario.workload.think_time == Constant(1_000_000)
    assert scenario.tikv.store_pool_size == 3
    assert scenario.tikv.wake_up_delay_ns == 5_000_000


def test_another_kind_of_workload_keeps_nothing_of_the_extended_one(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(BASE, encoding="utf-8")
    text = "extends: base.yaml\nworkload: {kind: oltp_read_write, rate: 100/s}\n"
    workload = study_of(tmp_path, text).variants["in_memory"].workload
    assert (workload.threads, workload.rate_per_s, workload.warehouses) == (None, 100.0, 0)


def test_problems_point_into_the_extended_file(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(BASE.replace("stores: 5", "stores: 0"), encoding="utf-8")
    told = problems_of(tmp_path, "extends: base.yaml\n")
    assert told.startswith(f"{tmp_path}/base.yaml:2:19: cluster.stores: must be 1 to")


def test_files_do_not_extend_themselves(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("extends: [b.yaml, x.yaml]\n", encoding="utf-8")
    (tmp_path / "b.yaml").write_text(BASE, encoding="utf-8")
    assert "extends itself" in problems_of(tmp_path, "extends: x.yaml\n")
    said = problems_of(tmp_path, "extends: a.yaml\n")
    assert "a.yaml:1:19: extends: extends itself (x.yaml → a.yaml → x.yaml)" in said


@pytest.mark.parametrize("name", ["../outer.yaml", "{tmp_path}/outer.yaml", "link.yaml"])
def test_a_file_extends_one_beside_or_above_it_or_anywhere(tmp_path: Path, name: str) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "outer.yaml").write_text(BASE, encoding="utf-8")
    (inner / "link.yaml").symlink_to(tmp_path / "outer.yaml")
    said = f"extends: {name.format(tmp_path=tmp_path)}\n"
    assert study_of(inner, said).variants["in_memory"].cluster.stores == 5


def test_a_file_extends_one_that_comes_with_the_program(tmp_path: Path) -> None:
    text = "extends: pessim:rfc77_nvme\nrun: {seed: 77}\n"
    own, theirs = study_of(tmp_path, text), load_study("pessim:rfc77_nvme", ["run.seed=77"])
    assert (own.digest, theirs.name) == (theirs.digest, "rfc77_nvme")
    assert load_study("pessim:cookbook/slow_disk").variants
    told = problems_of(tmp_path, "extends: pessim:rfc77_nwme\n")
    assert "extends: no scenario is called 'pessim:rfc77_nwme'; did you mean rfc77_nvme?" in told
    assert "no scenario is called" in problems_of(tmp_path, "extends: pessim:../README\n")
    with pytest.raises(ScenarioError, match="no scenario is called 'pessim:rfc7'; did you mean"):
        load_study("pessim:rfc7")
    with pytest.raises(ScenarioError, match="scenarios` lists what there is"):
        load_study("pessim:something")


def test_of_several_files_each_lies_over_those_before_it(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(BASE, encoding="utf-8")
    for name, threads in (("a", "threads: 7, "), ("b", "")):
        text = f"extends: base.yaml\nworkload: {{{threads}think_time: 3ms}}\n"
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "c.yaml").write_text("workload: {think_time: 4ms}\n", encoding="utf-8")
    workload = (
        study_of(tmp_path, "extends: [a.yaml, b.yaml, c.yaml]\n").variants["in_memory"].workload
    )
    # What b.yaml only has from base.yaml does not undo a.yaml.
    assert (workload.threads, workload.think_time) == (7, Constant(4_000_000))


@pytest.mark.parametrize(
    ("extended", "told"),
    [
        ("no.yaml", "x.yaml:1:10: extends: no file 'no.yaml' (looked for in {folder}); check"),
        ("/no/no.yaml", "x.yaml:1:10: extends: no file '/no/no.yaml'; check its name"),
        ("..", "x.yaml:1:10: extends: '..' is a folder; name a scenario file in it"),
        ("[b.yaml, 5]", "x.yaml:1:19: extends: must be a file's name, is 5; write other.yaml"),
        ("[broken.yaml]", "broken.yaml:2:1: "),
        (".", "is a folder; name a scenario file in it"),
    ],
)
def test_what_cannot_be_extended_is_named_where_it_is_said(
    tmp_path: Path, extended: str, told: str
) -> None:
    (tmp_path / "b.yaml").write_text(BASE, encoding="utf-8")
    (tmp_path / "broken.yaml").write_text("workload: [1, 2\n", encoding="utf-8")
    assert told.format(folder=tmp_path) in problems_of(tmp_path, f"extends: {extended}\n")


def test_a_dictionary_says_what_a_file_says(tmp_path: Path) -> None:
    said = yaml.safe_load(BASE)
    study = load_study(said | {"run": {"seed": np.int64(9)}}, {"workload.threads": 3})
    same = study_of(tmp_path, BASE + "run: {seed: 9}\n", "workload.threads=3")
    assert (study.digest, study.name) == (same.digest, "scenario")
    with pytest.raises(ScenarioError, match=r"scenario: workload\.kind: is .*of type object"):
        load_study({"workload": {"kind": object()}})
    with pytest.raises(ScenarioError, match=r"set workload\.threads: workload\.threads: must be"):
        load_study(said, {"workload.threads": -1})


def test_a_chain_of_files_ends(tmp_path: Path) -> None:
    for n in range(20):
        (tmp_path / f"{n}.yaml").write_text(f"extends: {n + 1}.yaml\n", encoding="utf-8")
    with pytest.raises(ScenarioError, match="files deep; merge some"):
        load_study(tmp_path / "0.yaml")


def test_points_are_all_combinations(tmp_path: Path) -> None:
    study = study_of(
        tmp_path,
        BASE + "sweep: {grid: {workload.threads: [1, 2], cluster.tidb_nodes: [3, 4]}}\n",
    )
    assert study.points == (
        {"workload.threads": 1, "cluster.tidb_nodes": 3},
        {"workload.threads": 1, "cluster.tidb_nodes": 4},
        {"workload.threads": 2, "cluster.tidb_nodes": 3},
        {"workload.threads": 2, "cluster.tidb_nodes": 4},
    )
    scenario = study.scenario(study.points[2], "in_memory")
    assert (scenario.workload.threads, scenario.cluster.tidb_nodes) == (2, 3)


def test_a_sweep_without_end_is_refused_before_it_costs_time(tmp_path: Path) -> None:
    values = ", ".join(str(n + 1) for n in range(500))
    text = BASE + f"sweep: {{grid: {{workload.threads: [{values}], cluster.regions: [{values}]}}}}"
    assert "250000 points times variants" in problems_of(tmp_path, text)


@pytest.mark.parametrize(
    "cases",
    [
        "sweep: {grid: {hardware.store_cores: [4, 32]}}",
        "sweep: {grid: {hardware.store_memory: [8GiB, 64GiB]}}\ntikv: {behaviour: rfc77}",
        "sweep: {grid: {tikv.behaviour: [rfc77, v8.5]}}",
        "sweep: {grid: {hardware.profile: [gp3_max, i4i.4xlarge], workload.threads: [1, 2]}}",
        "sweep: {grid: {hardware.disk.raft: [aws_gp3_base, sata_ssd_slow]}}",
        "sweep: {grid: {hardware.disk.raft.append: [1ms, {p50: 1ms, p99: 2ms}]}}",
        "sweep: {grid: {workload.think_time: [0s, {mean: 1ms, cv: 2}]}}",
        "",
        "compare: {a: {tikv.behaviour: rfc77}, b: {tikv.behaviour: v8.5}}",
        "compare: {a: {hardware.disk.kv: shared}, b: {hardware.disk.kv: aws_gp3_base}}",
        "compare: {a: {hardware.disk.kv: sata_ssd_dc}, b: {hardware.disk.kv: shared}}",
        "compare: {a: {hardware.network: same_zone}, b: {hardware.network: same_host}}",
        "compare: {a: {}, b: {workload: {kind: tpcc, warehouses: 10, rate: 5/s, threads: null, "
        "think_time: null}}}",
        "compare: {a: {}, b: {workload: {kind: oltp_read_write, threads: 3}}}",
        "compare: {a: {}, b: {workload.mix: {new_order: 1}}}",
        "compare: {a: {}, b: {tikv: {raftstore.store-pool-size: 9}}}\n"
        "sweep: {grid: {workload.threads: [1, 2]}}",
    ],
)
def test_written_out_it_is_the_same_study(tmp_path: Path, cases: str) -> None:
    text = BASE
    if "tikv: {behaviour" in cases:
        text = text.replace("tikv: {", "tikv: {behaviour: rfc77, ")
        cases = cases.split("\n", maxsplit=1)[0]
    study = study_of(tmp_path, f"{text}{cases}\n")
    again = study_of(tmp_path, study.resolved_yaml())
    assert again.points == study.points
    assert list(again.variants) == list(study.variants)
    for point in study.points:
        for variant in study.variants:
            assert again.scenario(point, variant) == study.scenario(point, variant)
            assert again.config_hash(point, variant, 0) == study.config_hash(point, variant, 0)


def test_a_study_without_a_question_can_be_written_out(tmp_path: Path) -> None:
    study = study_of(tmp_path, BASE.replace("about: Which?\n", ""))
    assert study_of(tmp_path, study.resolved_yaml()) == study


def test_two_names_for_one_simulation_are_refused(tmp_path: Path) -> None:
    told = problems_of(tmp_path, BASE + "compare:\n  a: {}\n  b: {workload.threads: 4}\n")
    assert "x.yaml:7:3: compare.b: the same simulation as variant a, which has" in told
    assert "workload.threads: 4 without saying it; change a value" in told
    told = problems_of(tmp_path, BASE + "sweep: {grid: {workload.think_time: [1ms, 1000us]}}\n")
    same = "sweep: workload.think_time = 1000us is the same simulation as workload.think_time = 1ms"
    assert same in told


def test_words_that_look_like_numbers_stay_words(tmp_path: Path) -> None:
    study = study_of(tmp_path, BASE.replace("Which?", "'1e5'"))
    assert study_of(tmp_path, study.resolved_yaml()).about == "1e5"


def test_a_hash_covers_what_matters_and_nothing_else(tmp_path: Path) -> None:
    def unit(*overrides: str, text: str = BASE) -> str:
        study = study_of(tmp_path, text, *overrides)
        return study.config_hash({}, next(iter(study.variants)), 0)

    plain = unit()
    assert unit("run.replications=50") == plain
    assert unit(text=BASE.replace("Which?", "Why?")) == plain
    assert unit(text=BASE + "hardware: {profile: i3.4xlarge}\n") == plain
    for change in ("run.seed=2", "run.measure=31s", "workload.threads=5", "cluster.zones=2"):
        assert unit(change) != plain


def test_a_study_travels_between_processes(tmp_path: Path) -> None:
    study = study_of(tmp_path, BASE)
    again = pickle.loads(pickle.dumps(study))
    assert again == study
    assert again.config_hash({}, "in_memory", 3) == study.config_hash({}, "in_memory", 3)


def test_a_study_folders_copy_is_called_as_the_folder(tmp_path: Path) -> None:
    (tmp_path / "rfc").mkdir()
    assert study_of(tmp_path / "rfc", BASE, name="scenario.yaml").name == "rfc"


def test_all_problems_are_told_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    told = problems_of(
        tmp_path,
        "about: 5\n"
        "run: {sede: 1, measure: 8}\n"
        "cluster: {replicas: 5}\n"
        "hardware: {disk: {raft: nvme}}\n"
        "tikv: {pessimistic-txn.in-memroy: true, raftstore.store-pool-size: 0}\n"
        "workload: {kind: tpcc, warehouses: -1}\n"
        "compare: {a: {workload.thread: 5}}\n"
        "expect: [{metric: latency, variant: b, below: 1}]\n"
        "operations: 5\n",
    )
    lines = [int(line.split(":")[1]) for line in told.splitlines()]
    assert lines == sorted(lines)
    assert set(lines) == set(range(1, 10))


def test_an_end_of_rounds_in_a_file_that_is_extended_is_no_mistake(tmp_path: Path) -> None:
    base = tmp_path / "base.yaml"
    base.write_text("run: {precision: {txn_per_s: 5%}, max_replications: 9}\n", encoding="utf-8")
    over = BASE + "extends: base.yaml\nrun: {precision: null, replications: 2"
    assert study_of(tmp_path, over + "}\n").run.replications == 2
    assert "has no effect" in problems_of(tmp_path, over + ", max_replications: 9}\n")


def test_a_file_that_extends_one_that_fixes_its_rounds_is_no_mistake(tmp_path: Path) -> None:
    ratio = "{metric: txn_per_s, variant: b, against: a, above: 1, precision: 4%}"
    variants = "compare: {a: {}, b: {tikv.pessimistic-txn.in-memory: false}}"
    first = f"run: {{max_replications: 9}}\n{variants}\nexpect: [{ratio}]\n"
    (tmp_path / "first.yaml").write_text(first, encoding="utf-8")
    second = "extends: first.yaml\nrun: {replications: 2}\n"
    (tmp_path / "second.yaml").write_text(second, encoding="utf-8")
    third = BASE + "extends: second.yaml\n"
    assert study_of(tmp_path, third).run.replications == 2
    refused = problems_of(tmp_path, f"{third}expect: [{ratio}]\nrun: {{replications: 2}}\n")
    assert "run.replications says what is run" in refused
