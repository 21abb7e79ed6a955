"""What people write by mistake: every wrong scenario is refused at its line, with the mend."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.scenario import ScenarioError, load_study

GOOD = """\
about: Which is faster?
run: {seed: 1, warmup: 1s, measure: 2s, replications: 2}
cluster: {stores: 3, replicas: 3}
hardware: {profile: i3.4xlarge}
tikv: {behaviour: v6.0}
workload: {kind: tpcc, warehouses: 10, threads: 4}
compare:
  pipelined: {tikv.pessimistic-txn.in-memory: false}
  in_memory: {tikv.pessimistic-txn.in-memory: true}
sweep: {grid: {cluster.regions: [10, 20]}}
expect: [{metric: lock_latency_ms, variant: in_memory, against: pipelined, below: 0.9}]
"""

CUSTOM = "workload: {kind: custom, threads: 4, tables: {t: {rows: 10}}, transactions: {x: %s}}"

WRONG = [
    # line to write instead, path of the problem, part of the message
    (2, "run: {seed: one}", "run.seed", "must be a whole number, is 'one'"),
    (2, "run: {seed: -1}", "run.seed", "is -1"),
    (2, "run: {seed: 1.5}", "run.seed", "must be a whole number"),
    (2, "run: {sede: 1}", "run.sede", "did you mean seed?"),
    (2, "run: 5", "run", "mapping"),
    (2, "run: {measure: 8}", "run.measure", "8 has no unit; write 8s or 8ms"),
    (2, "run: {measure: 0s}", "run.measure", "too little"),
    (2, "run: {measure: -2s}", "run.measure", "too little"),
    (2, "run: {measure: 9000h}", "run.measure", "too much"),
    (2, "run: {measure: 8 parsecs}", "run.measure", "is not a unit of duration"),
    (2, "run: {measure: [8s]}", "run.measure", "is a list"),
    (2, "run: {warmup: soon}", "run.warmup", "or auto"),
    (2, "run: {replications: 0}", "run.replications", "is 0"),
    (2, "run: {replications: 1e9}", "run.replications", "must be 1 to"),
    (2, "run: {window: 3s, measure: 2s}", "run.window", "longer than the whole measurement"),
    (2, "run: {window: 1ms, measure: 24h}", "run.window", "windows"),
    (2, "run: {checks: maybe}", "run.checks", "true or false"),
    (3, "cluster: {stores: 3, replicas: 5}", "cluster.replicas", "5 replicas need as many stores"),
    (3, "cluster: {stores: 0}", "cluster.stores", "is 0"),
    (3, "cluster: {stores: 3, zones: 4}", "cluster.zones", "every zone needs a store"),
    (3, "cluster: {storse: 3}", "cluster.storse", "did you mean stores?"),
    (3, "cluster: {tidb_nodes: true}", "cluster.tidb_nodes", "is true"),
    (3, "cluster: {tidb: {tidb_enable_1cp: on}}", "tidb_enable_1cp", "did you mean"),
    (4, "hardware: {profile: i3.4xlrge}", "hardware.profile", "did you mean i3.4xlarge?"),
    (4, "hardware: {disk: {raft: nvme_i3}}", "hardware.disk.raft", "did you mean nvme_i3_4xlarge?"),
    (4, "hardware: {disk: {kv: 7}}", "hardware.disk.kv", ""),
    (
        4,
        "hardware: {disk: {raft: {profile: aws_gp3_max, write_bandwidth: 500}}}",
        "hardware.disk.raft.write_bandwidth",
        "500 has no unit; write 500MB/s or 500MiB/s",
    ),
    (
        4,
        "hardware: {disk: {raft: {profile: aws_gp3_max, fsnyc: 1ms}}}",
        "hardware.disk.raft.fsnyc",
        "",
    ),
    (
        4,
        "hardware: {disk: {raft: {profile: aws_gp3_max, write_iops: 0}}}",
        "hardware.disk.raft.write_iops",
        "is 0",
    ),
    (
        4,
        "hardware: {disk: {raft: {profile: aws_gp3_max, append: {p50: 2ms, p99: 1ms}}}}",
        "append",
        "p50 <= p99",
    ),
    (4, "hardware: {network: {profile: two_cities, cross_zon: 1ms}}", "cross_zon", "did you mean"),
    (4, "hardware: {network: same_zon}", "hardware.network", "did you mean same_zone?"),
    (4, "hardware: {store_memory: 1000000TiB}", "hardware.store_memory", "too much"),
    (4, "hardware: {store_memory: 64}", "hardware.store_memory", "64 has no unit"),
    (4, "hardware: {cpu: {cv: .nan}}", "hardware.cpu.cv", "must be a number"),
    (4, "hardware: {lsm: {write_amplification: -1}}", "write_amplification", "is -1"),
    (5, "tikv: {behaviour: v9}", "tikv.behaviour", ""),
    (5, "tikv: {pessimistic-txn.in-memroy: true}", "in-memroy", "did you mean"),
    (5, "tikv: {in-memory: true}", "tikv.in-memory", "did you mean pessimistic-txn.in-memory?"),
    (5, "tikv: {raftstore: {store-pool-size: two}}", "store-pool-size", "must be a whole number"),
    (
        5,
        "tikv: {raftstore.store-pool-size: 2, raftstore: {store-pool-size: 3}}",
        "store-pool-size",
        "twice",
    ),
    (5, "tikv: {coprocessor.region-split-size: 96}", "region-split-size", "96 has no unit"),
    (5, "tikv: {coprocessor.region-split-size: 96s}", "region-split-size", "not a unit of size"),
    (6, "workload: {kind: tpcc, warehouses: 10}", "workload", "neither threads nor rate"),
    (6, "workload: {kind: tpcc, threads: 4}", "workload.warehouses", ""),
    (6, "workload: {kind: tpcc, warehouses: 10, threads: 4, rate: 5/s}", "rate", "both threads"),
    (6, "workload: {kind: tpcc, warehouses: 10, rate: 0/s}", "workload.rate", "too little"),
    (6, "workload: {kind: tpcc, warehouses: 10, rate: -5/s}", "workload.rate", "too little"),
    (6, "workload: {kind: tpcc, warehouses: 10, rate: 2400}", "workload.rate", "write 2400/s"),
    (6, "workload: {kind: tpc, warehouses: 10, threads: 4}", "workload.kind", "did you mean tpcc?"),
    (6, "workload: {warehouses: 10, threads: 4}", "workload", "kind"),
    (6, "workload: {kind: etcd, threads: 4}", "workload.kind", "not available in this version"),
    (6, "workload: {kind: tpcc, warehouses: 10, threads: 4, tables: 3}", "workload.tables", ""),
    (6, "workload: {kind: oltp_write_only, threads: 4, table_rows: 0}", "table_rows", "is 0"),
    (
        6,
        "workload: {kind: tpcc, warehouses: 10, threads: 4, mix: {new_order: -1}}",
        "workload.mix.new_order",
        "is -1",
    ),
    (6, CUSTOM % "{statements: []}", "transactions.x.statements", ""),
    (6, CUSTOM % "{statements: [{lock: u}]}", "lock", "there is no table u"),
    (6, CUSTOM % "{statements: [{lock: t, read: t}]}", "statements", "2 verbs"),
    (6, CUSTOM % "{statements: [{lock: t, rows: 11}]}", "rows", "11 different rows out of 10"),
    (6, CUSTOM % "{statements: [{lock: t, hot: {rows: 11}}]}", "hot.rows", "11 hot rows"),
    (6, CUSTOM % "{weight: 0, statements: [{lock: t}]}", "transactions", "every weight is 0"),
    (6, CUSTOM % "{autocommit: on, statements: [{read: t}]}", "autocommit", "an update"),
    (8, "  pipelined: {tikv.pessimistic-txn.in-memry: 1}", "in-memry", "did you mean"),
    (8, "  pipelined: 5", "compare.pipelined", ""),
    (9, "  in_memory: {}\n\n  7th-one: {}", "compare.7th-one", "rename it"),
    (9, "  in_memory: {tikv.pessimistic-txn.in-memory: false}", "compare.in_memory", "the same"),
    (8, "  pipelined: {cluster.replicas: 5}", "cluster.replicas", "5 replicas need as many"),
    (8, "  pipelined: {run.seed: 7}", "run.seed", "all variants and points share run"),
    (10, "sweep: {grid: {workload.thread: [1]}}", "workload.thread", "did you mean threads?"),
    (10, "sweep: {grid: {workload.threads: 5}}", "sweep.grid", "list"),
    (10, "sweep: {grid: {workload.threads: []}}", "sweep.grid", ""),
    (10, "sweep: {grid: {workload.threads: [4, 4]}}", "sweep.grid", ""),
    (10, "sweep: {grid: {workload.threads: [4, 0]}}", "workload.threads", "is 0"),
    (10, "sweep: {latin_hypercube: {points: 5}}", "sweep", "not available in this version"),
    (11, "expect: [{metric: lock_latency, variant: in_memory, below: 1}]", "metric", "did you"),
    (11, "expect: [{metric: lock_latency_ms, variant: memory, below: 1}]", "variant", "in_memory"),
    (11, "expect: [{metric: lock_latency_ms, variant: in_memory}]", "expect[0]", "below"),
    (
        11,
        "expect: [{metric: lock_latency_ms, variant: in_memory, below: 1, above: 2}]",
        "expect[0]",
        "",
    ),
    (
        11,
        "expect: [{metric: lock_latency_ms, variant: in_memory, against: sync, below: 1}]",
        "against",
        "",
    ),
    (11, "expect: {metric: lock_latency_ms}", "expect", "list"),
    (11, "operations: [{at: 10s, do: transfer_leader}]", "operations", "not available in this"),
    (11, "capacity: {slo: {p99: 10ms}}", "capacity", "not available in this version"),
    (11, "worklod: {}", "worklod", "did you mean workload?"),
    (11, "extends: missing.yaml", "extends", "no file 'missing.yaml' beside wrong.yaml"),
    (11, "extends: wrong.yaml", "extends", ""),
    (11, "extends: ../../../../../../etc/passwd", "extends", ""),
    (11, "extends: /etc/passwd", "extends", ""),
    (11, "extends: 5", "extends", "must be a file's name"),
    (1, "about: ''", "about", ""),
    (1, "about: 5", "about", "must be text"),
]


def problems(text: str, folder: Path, overrides: tuple[str, ...] = ()) -> list[str]:
    file = folder / "wrong.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        load_study(file, list(overrides))
    return [str(problem) for problem in caught.value.problems]


def test_what_all_others_are_made_from_is_right(tmp_path: Path) -> None:
    file = tmp_path / "good.yaml"
    file.write_text(GOOD, encoding="utf-8")
    assert load_study(file).name == "good"


@pytest.mark.parametrize(("line", "text", "path", "message"), WRONG)
def test_told_at_its_line_with_the_mend(
    tmp_path: Path, line: int, text: str, path: str, message: str
) -> None:
    lines = GOOD.splitlines()
    lines[line - 1] = text
    told = problems("\n".join(lines), tmp_path)
    right = [one for one in told if path in one and message in one]
    assert right, told
    line += text.count("\n")
    assert any(one.startswith(f"{tmp_path}/wrong.yaml:{line}:") for one in right), told
    assert len(told) == 1, told
    assert ";" in right[0], "a problem says how to mend it"
