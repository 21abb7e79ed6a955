"""Operations: said as a list or by name, swept by name, and written out to be read again."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import yaml

from analysis.study.load import load_study
from analysis.study.study import Study
from sim.scenario import Scenario, ScenarioError
from sim.scenario.schema.operations import (
    OPERATIONS,
    AutoMerge,
    EvictLeader,
    Partition,
    SetConfig,
    TransferLeader,
)
from sim.scenario.targets import RegionTarget, StoreTarget
from sim.units import MIB, NS_PER_S

BASE = """\
about: Does it move?
run: {seed: 1, warmup: 1s, measure: 2s}
workload:
  kind: custom
  threads: 2
  tables: {acct: {rows: 100}}
  transactions: {move: {statements: [{lock: acct, rows: 2}, {update: acct}]}}
"""

ALL = """\
operations:
  - {at: 10s, do: transfer_leader, region: hottest}
  - {name: often, every: 2s, do: transfer_leader, region: 3, to: 2, from: 1s, until: 9s, count: 3}
  - {rate: 0.5/s, do: split_region, region: {table: acct, row: 70}}
  - {at: 1s, do: merge_region, region: {key: "7480"}, into: previous}
  - {at: 1s, do: evict_leader, store: each, restart: true, down: 5s}
  - {at: 1s, do: evict_leader, store: {leader_of: {table: acct}}, for: 30s}
  - {do: balance_leader, leader-schedule-limit: 8}
  - {do: auto_split, by: load, qps-threshold: 100/s, from: 3s}
  - {do: auto_merge, split-merge-interval: 1m}
  - {at: 1s, do: crash_store, store: random, for: 10s}
  - {at: 20s, do: restart_store, store: 1}
  - {at: 1s, do: partition, groups: [[1, tidb-0], [2, 3]], for: 20s}
  - {at: 1s, do: partition, isolate: 1}
  - {at: 1s, do: slow_disk, store: 2, factor: 10, for: 5s}
  - {at: 1s, do: stress_cpu, store: 2, workers: 3, for: 5s}
  - {at: 1s, do: fill_disk, store: 2}
  - {at: 1s, do: upgrade_store, store: each, to: v8.5.0}
  - {at: 1s, do: set_config, key: pessimistic-txn.in-memory, value: false}
  - {at: 1s, do: set_config, key: pessimistic-txn.in-memory-peer-size-limit, value: 1KiB, store: 1}
  - {at: 1s, do: change_peer, region: random, add: 3, remove: random}
  - {at: 1s, do: drop_messages, kind: TimeoutNow, from_store: 1, region: random, for: 1s}
  - {at: 1s, do: delay_messages, kind: Append, delay: 5ms}
  - {every: 3s, do: shuffle_leader}
"""


def study_of(text: str, folder: Path, *overrides: str) -> Study:
    path = folder / "study.yaml"
    path.write_text(text, encoding="utf-8")
    return load_study(path, overrides)


def scenarios_of(study: Study) -> list[Scenario]:
    return [study.scenario(point, variant) for point in study.points for variant in study.variants]


def operations_of(text: str, folder: Path, *overrides: str) -> tuple[Any, ...]:
    return next(iter(study_of(text, folder, *overrides).variants.values())).operations


def test_every_kind_can_be_said(tmp_path: Path) -> None:
    said = operations_of(BASE + ALL, tmp_path)
    assert {operation.do for operation in said} == set(OPERATIONS) == set(OPERATIONS)
    assert [operation.name for operation in said[:3]] == ["0", "often", "2"]


def test_writing_them_out_and_reading_them_gives_the_same(tmp_path: Path) -> None:
    study = study_of(BASE + ALL, tmp_path)
    again = study_of(study.resolved_yaml(), tmp_path)
    assert scenarios_of(again) == scenarios_of(study)
    assert again.resolved_yaml().splitlines()[1:] == study.resolved_yaml().splitlines()[1:]


def test_they_are_part_of_the_hash(tmp_path: Path) -> None:
    hashes = set()
    for do in ("", "crash_store", "fill_disk"):
        line = f"operations: [{{at: 1s, do: {do}, store: 1}}]\n" if do else ""
        study = study_of(BASE + line, tmp_path)
        hashes.add(study.config_hash(study.points[0], next(iter(study.variants)), 0))
    assert len(hashes) == 3


def test_a_resolved_operation_is_plain_data(tmp_path: Path) -> None:
    for operation in operations_of(BASE + ALL, tmp_path):
        assert json.loads(json.dumps(asdict(operation)))["do"] == operation.do


def test_values_are_in_base_units(tmp_path: Path) -> None:
    said = operations_of(BASE + ALL, tmp_path)
    often = said[1]
    assert isinstance(often, TransferLeader)
    assert (often.every_ns, often.from_ns, often.until_ns) == (2 * NS_PER_S, NS_PER_S, 9 * NS_PER_S)
    assert often.region == RegionTarget(by="id", region_id=3)
    assert often.to == StoreTarget(by="id", store=2)
    evict = said[4]
    assert isinstance(evict, EvictLeader)
    assert (evict.store.by, evict.restart, evict.down_ns) == ("each", True, 5 * NS_PER_S)
    merge = said[8]
    assert isinstance(merge, AutoMerge)
    assert merge.max_merge_region_size_bytes == 54 * MIB
    cut = said[11]
    assert isinstance(cut, Partition)
    assert cut.groups == (("store-1", "tidb-0"), ("store-2", "store-3"))
    limits = [each.value for each in said if isinstance(each, SetConfig)]
    assert limits == [False, 1024]


@pytest.mark.parametrize("name", ["often", "0"])
def test_a_key_of_an_operation_is_swept_by_name_or_by_place(name: str, tmp_path: Path) -> None:
    named = "name: often, " if name == "often" else ""
    text = f"""{BASE}
operations: [{{{named}every: 2s, do: transfer_leader, region: hottest}}]
sweep: {{grid: {{operations.{name}.every: [1s, 4s]}}}}
"""
    study = study_of(text, tmp_path)
    moves: list[Any] = [scenario.operations[0] for scenario in scenarios_of(study)]
    periods = [move.every_ns for move in moves]
    assert periods == [NS_PER_S, 4 * NS_PER_S]
    assert scenarios_of(study_of(study.resolved_yaml(), tmp_path)) == scenarios_of(study)


def test_a_variant_may_add_change_and_take_away(tmp_path: Path) -> None:
    text = f"""{BASE}
operations: {{moves: {{every: 2s, do: transfer_leader, region: hottest}}}}
compare:
  calm: {{operations.moves: null}}
  steady: {{}}
  quick: {{operations.moves.every: 1s}}
  crash: {{operations.crash: {{at: 1s, do: crash_store, store: 1}}}}
"""
    study = study_of(text, tmp_path)
    said = [[each.do for each in variant.operations] for variant in study.variants.values()]
    assert said == [
        [],
        ["transfer_leader"],
        ["transfer_leader"],
        ["transfer_leader", "crash_store"],
    ]
    assert scenarios_of(study_of(study.resolved_yaml(), tmp_path)) == scenarios_of(study)


def test_the_command_line_reaches_them(tmp_path: Path) -> None:
    text = f"{BASE}operations: [{{name: moves, every: 2s, do: transfer_leader, region: 1}}]\n"
    assert operations_of(text, tmp_path, "operations.moves.region=random")[0].region.by == "random"


def test_a_variant_with_in_memory_locks_later_keeps_the_key(tmp_path: Path) -> None:
    text = f"""{BASE}tikv: {{pessimistic-txn.pipelined: false}}
operations: [{{at: 1s, do: set_config, key: pessimistic-txn.pipelined, value: true}}]
"""
    (scenario,) = study_of(text, tmp_path).variants.values()
    assert scenario.tikv.in_memory
    assert scenario.tikv.lock_mode == "sync"
    (plain,) = study_of(
        f"{BASE}tikv: {{pessimistic-txn.pipelined: false}}", tmp_path
    ).variants.values()
    assert not plain.tikv.in_memory


NO_SUCH = "no operation is called"


@pytest.mark.parametrize(
    ("text", "overrides", "said"),
    [
        (ALL, ["operations.ofen.every=1s"], f"{NO_SUCH} ofen; did you mean often?"),
        ("", ["operations.a.at=1s"], f"{NO_SUCH} a; write operations: [{{name: a, at: 10s, do: "),
        ("sweep: {grid: {operations.crash.at: [1s]}}\n", [], f"{NO_SUCH} crash; write operations"),
        (f"{ALL}compare: {{a: {{}}, b: {{operations.ofen.at: 1s}}}}\n", [], f"{NO_SUCH} ofen; did"),
        ("operations: [{at: 1s, store: 1}]\n", [], "operations.0.do: missing; use one of transfer"),
        ("operations: {at: 1s, do: crash_store, store: 1}\n", [], "must be a list, is one operat"),
    ],
)
def test_an_operation_that_nobody_described_is_told_from_one_that_lacks_a_word(
    text: str, overrides: list[str], said: str, tmp_path: Path
) -> None:
    with pytest.raises(ScenarioError) as found:
        operations_of(BASE + text, tmp_path, *overrides)
    (problem,) = found.value.problems
    assert said in str(problem)


def test_an_operation_of_a_dictionary_that_lacks_a_word_is_not_called_unknown() -> None:
    document = {**yaml.safe_load(BASE), "operations": [{"at": "1s", "store": 1}]}
    with pytest.raises(ScenarioError, match=r"operations\.0\.do: missing; use one of transfer"):
        load_study(document)
