"""A cluster's own tikv.toml under a scenario, and alone."""

from pathlib import Path

import pytest

from analysis.study.load import load_study
from sim.scenario.problems import ScenarioError
from sim.scenario.schema.tikv import Tikv
from sim.scenario.tikv_toml import TikvTomlError, read_tikv_toml
from sim.units import KIB, MIB, NS_PER_MS

_TOML = """
log-level = "info"
[server]
grpc-concurrency = 6
[raftstore]
store-pool-size = 4
apply-pool-size = 3
sync-log = true
region-split-size = "128MB"
raft-store-max-leader-lease = "8s500ms"
[pessimistic-txn]
in-memory = false
wait-for-lock-timeout = 500
in-memory-peer-size-limit = "512KB"
"""


def _written(folder: Path, toml: str = _TOML, said: str = "file: tikv.toml") -> Path:
    (folder / "tikv.toml").write_text(toml)
    path = folder / "scenario.yaml"
    path.write_text(f"workload: {{kind: tpcc, warehouses: 10, threads: 5}}\ntikv: {{{said}}}\n")
    return path


def _tikv(path: Path, *overrides: str) -> Tikv:
    return next(iter(load_study(path, overrides).variants.values())).tikv


def test_keys_are_read_in_tikvs_units_and_the_rest_is_listed(tmp_path: Path) -> None:
    _written(tmp_path)
    read = read_tikv_toml(tmp_path / "tikv.toml")
    assert read.values == {
        "server.grpc-concurrency": 6,
        "raftstore.store-pool-size": 4,
        "raftstore.apply-pool-size": 3,
        "coprocessor.region-split-size": "128MiB",
        "raftstore.raft-store-max-leader-lease": "8500ms",
        "pessimistic-txn.in-memory": False,
        "pessimistic-txn.wait-for-lock-timeout": "500ms",
        "pessimistic-txn.in-memory-peer-size-limit": "512KiB",
    }
    assert read.renamed == {"raftstore.region-split-size": "coprocessor.region-split-size"}
    assert read.gone == ("raftstore.sync-log",)
    assert read.not_modelled == ("log-level",)


def test_it_lies_below_what_the_scenario_says(tmp_path: Path) -> None:
    said = "file: tikv.toml, raftstore: {apply-pool-size: 7}"
    tikv = _tikv(_written(tmp_path, said=said))
    assert (tikv.store_pool_size, tikv.apply_pool_size) == (4, 7)
    assert tikv.grpc_concurrency == 6
    assert (tikv.in_memory, tikv.wait_for_lock_timeout_ns) == (False, 500 * NS_PER_MS)
    assert tikv.region_split_size_bytes == 128 * MIB
    assert tikv.in_memory_peer_size_limit_bytes == 512 * KIB


def test_the_command_line_may_name_any_file_and_it_replaces_the_other(tmp_path: Path) -> None:
    path = _written(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    other = elsewhere / "other.toml"
    other.write_text("[raftstore]\napply-pool-size = 9\n")
    tikv = _tikv(path, f"tikv.file={other}")
    assert (tikv.store_pool_size, tikv.apply_pool_size) == (2, 9)


def test_a_scenario_that_extends_another_keeps_its_toml(tmp_path: Path) -> None:
    _written(tmp_path)
    path = tmp_path / "more.yaml"
    path.write_text("extends: scenario.yaml\ntikv: {raftstore.store-pool-size: 6}\n")
    tikv = _tikv(path)
    assert (tikv.store_pool_size, tikv.apply_pool_size) == (6, 3)


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("[raftstore]\nstore-pool-size = 0\n", "store-pool-size: must be 1 to 1024"),
        ("[raftstore]\nraft-entry-max-size = '8 parsecs'\n", "is not a size"),
        ("[raftstore]\nraft-base-tick-interval = '1 fortnight'\n", "is not a duration"),
        ("[raftstore]\nraft-base-tick-interval = 5\n", "is not a duration"),
        ("[raftstore]\nstore-pool-size = [1]\n", "is a list; write one value"),
        ("raftstore = 5\n", r"raftstore: is 5; write a table, \[raftstore\]"),
        ("[[raftstore]]\nstore-pool-size = 1\n", "raftstore: is a list; write a table"),
        ("raftstore = {store-pool-size\n", "fix the TOML there"),
        ("#" * (MIB + 1), "larger than 1 MiB"),
        ("a = " + "[" * 5_000, "nested too deeply"),
    ],
)
def test_what_tikv_would_refuse_is_refused(tmp_path: Path, toml: str, message: str) -> None:
    path = _written(tmp_path, toml)
    with pytest.raises(TikvTomlError, match=message) as refused:
        read_tikv_toml(tmp_path / "tikv.toml")
    assert "\n" not in str(refused.value)
    with pytest.raises(ScenarioError, match=r"tikv\.file"):
        load_study(path)


def test_keys_of_this_model_alone_are_none_of_tikvs(tmp_path: Path) -> None:
    _written(tmp_path, "[pessimistic-txn]\nforce-in-memory = true\n")
    assert read_tikv_toml(tmp_path / "tikv.toml").not_modelled == (
        "pessimistic-txn.force-in-memory",
    )


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("file: ../tikv.toml", "leaves .*--set tikv.file="),
        ("file: /etc/passwd", "is absolute"),
        ("file: [a]", "must be a file's name"),
        ("file: none.toml", "check the name"),
    ],
)
def test_a_scenario_reads_no_file_outside_its_folder(
    tmp_path: Path, said: str, message: str
) -> None:
    with pytest.raises(ScenarioError, match=message):
        load_study(_written(tmp_path, said=said))


def test_a_variant_cannot_have_a_toml_of_its_own(tmp_path: Path) -> None:
    path = _written(tmp_path)
    path.write_text(path.read_text() + "compare: {a: {}, b: {tikv.file: tikv.toml}}\n")
    with pytest.raises(ScenarioError, match="the same for all cases"):
        load_study(path)


def test_a_mark_of_byte_order_is_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "tikv.toml").write_text("\ufeff[raftstore]\nstore-pool-size = 3\n")
    assert read_tikv_toml(tmp_path / "tikv.toml").values == {"raftstore.store-pool-size": 3}


@pytest.mark.parametrize(
    ("said", "program"),
    [
        ('client-urls = "http://0.0.0.0:2379"\n[schedule]\nleader-schedule-limit = 4\n', "PD"),
        ("[pessimistic-txn]\nmax-retry-count = 256\n[performance]\nmax-procs = 8\n", "TiDB"),
        ("tcp_port = 9000\n[flash]\nservice_addr = '0.0.0.0:3930'\n", "TiFlash"),
    ],
)
def test_the_configuration_of_another_program_is_refused(
    tmp_path: Path, said: str, program: str
) -> None:
    path = _written(tmp_path, said)
    with pytest.raises(ScenarioError, match=rf"tikv.file: .*configuration of {program} \(it has "):
        load_study(path)
