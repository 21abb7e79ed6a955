"""A tikv.toml with the metrics of its cluster as sections of a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from analysis.calibration.prometheus_file import Growth, read_stages, together
from analysis.calibration.refusal import CalibrationError
from analysis.calibration.tikv_costs import KNOWN, Cost, costs_of
from analysis.calibration.tikv_profile import UNKNOWN, effects, tikv_of
from analysis.study.load import load_study
from tests.calibration.fio_documents import written

SAMPLES = Path(__file__).resolve().parents[1] / "testdata" / "calibration"
REAL = SAMPLES / "prometheus.json"
TUNED = SAMPLES / "tikv_tuned.toml"
_S = "tikv_scheduler_"
_ASYNC = "tikv_storage_engine_async_request_duration_seconds"
_BEFORE = 500.0
"""What every counter has at first, so that growth is not the last value."""


def _series(metric: str, by: float, /, **labels: str) -> dict[str, Any]:
    values = [[1_700_000_000 + 15 * i, str(_BEFORE + by * i / 4)] for i in range(5)]
    return {"metric": {"__name__": metric, **labels}, "values": values}


def _answer(*series: dict[str, Any]) -> dict[str, Any]:
    return {"status": "success", "data": {"resultType": "matrix", "result": list(series)}}


def _histogram(stage: str, seconds: float, count: float, **labels: str) -> list[dict[str, Any]]:
    return [
        _series(f"{stage}_sum", seconds, **labels), _series(f"{stage}_count", count, **labels),
    ]  # fmt: skip


STAGES = [
    *_histogram(f"{_S}command_duration_seconds", 50, 10_000, type="prewrite"),
    *_histogram(f"{_S}command_duration_seconds", 10, 10_000, type="acquire_pessimistic_lock"),
    *_histogram(f"{_S}latch_wait_duration_seconds", 2, 20_000, type="prewrite"),
    *_histogram(_ASYNC, 6, 20_000, type="snapshot"),
    *_histogram(_ASYNC, 50, 10_000, type="write"),
]
THREADS = [
    _series("tikv_thread_cpu_seconds_total", 3, name="raftstore_1_0"),
    _series("tikv_thread_cpu_seconds_total", 3, name="rs_1_1"),
    _series("tikv_thread_cpu_seconds_total", 1.5, name="apply_0"),
    _series("tikv_thread_cpu_seconds_total", 90, name="grpc-server-0"),
    _series("tikv_raftstore_raft_sent_message_total", 80_000, type="append"),
    _series("tikv_raftstore_proposal_total", 20_000, type="normal"),
]


def _costs(folder: Path, *series: dict[str, Any]) -> dict[str, Cost]:
    return {c.key: c for c in costs_of(read_stages(written(folder, _answer(*series))))}


def test_a_request_is_what_is_left_of_a_command_without_its_waits(tmp_path: Path) -> None:
    cost = _costs(tmp_path, *STAGES)["tikv_command"]
    assert cost.cost_ns == 2 * 10**9 // 20_000
    assert "an upper end" in cost.why


def test_cpu_of_threads_is_divided_by_what_they_worked_on(tmp_path: Path) -> None:
    costs = _costs(tmp_path, *THREADS)
    assert costs["store_message"].cost_ns == 37_500
    assert costs["apply_command"].cost_ns == 25_000


SERVED = [
    *_histogram("tikv_grpc_msg_duration_seconds", 9, 2_000_000, type="kv_get"),
    *_histogram("tikv_grpc_msg_duration_seconds", 9, 1_000_000, type="kv_prewrite"),
    _series("tikv_thread_cpu_seconds_total", 60, name="unified_read_po_3"),
]


def test_cpu_of_grpc_threads_is_by_request_and_that_of_the_read_pool_by_read(
    tmp_path: Path,
) -> None:
    costs = _costs(tmp_path, *THREADS, *SERVED)
    assert costs["grpc_request"].cost_ns == 30_000
    assert costs["tikv_read"].cost_ns == 30_000
    unread = _costs(tmp_path, *THREADS, *SERVED[2:])["tikv_read"]
    assert unread.cost_ns is None
    assert "by type" in unread.why


def test_what_is_in_another_cost_counts_once(tmp_path: Path) -> None:
    costs = _costs(tmp_path, *THREADS)
    contained = ("store_visit", "log_byte", "raftdb_record", "apply_record", "kvdb_record")
    assert [costs[key].cost_ns for key in contained] == [0] * 5
    assert costs["tikv_key"].cost_ns is None
    assert "in tikv_command" in costs["tikv_key"].why
    assert _costs(tmp_path, *THREADS, *SERVED)["tikv_row"].cost_ns == 0


def test_what_cannot_be_derived_says_what_it_would_need(tmp_path: Path) -> None:
    costs = _costs(tmp_path, *THREADS)
    assert costs["tikv_command"].cost_ns is None
    assert "needs tikv_scheduler_command_duration_seconds" in costs["tikv_command"].why
    assert costs["thread_hop"].cost_ns is None


def test_time_to_apply_stands_in_for_cpu(tmp_path: Path) -> None:
    apply = _histogram("tikv_raftstore_apply_log_duration_seconds", 0.5, 10_000)
    assert _costs(tmp_path, *apply)["apply_command"].cost_ns == 50_000


def test_buckets_alone_give_no_sum(tmp_path: Path) -> None:
    name = "tikv_raftstore_apply_log_duration_seconds"
    buckets = [
        _series(f"{name}_bucket", 10_000, le="0.0001"),
        _series(f"{name}_bucket", 10_000, le="+Inf"),
    ]
    cost = _costs(tmp_path, *buckets)["apply_command"]
    assert cost.cost_ns is None
    assert "_sum, _count" in cost.why
    counted = _costs(tmp_path, *buckets, _series(f"{name}_sum", 0.9))
    assert counted["apply_command"].cost_ns == 90_000


def test_proposals_are_counted_once(tmp_path: Path) -> None:
    more = [
        _series("tikv_raftstore_proposal_total", by, type=kind)
        for kind, by in (("all", 60_000), ("local_read", 40_000), ("batch", 5_000))
    ]
    costs = _costs(tmp_path, *THREADS, *more)
    # 6 s by 80,000 messages, 20,000 writes, applied three times, and 40,000 reads, never applied.
    assert costs["store_message"].cost_ns == 30_000
    assert costs["apply_command"].cost_ns == 25_000


def test_the_time_of_other_writes_is_not_taken_off(tmp_path: Path) -> None:
    noop = _histogram(_ASYNC, 1, 1_000, type="write_noop")
    assert _costs(tmp_path, *STAGES, *noop)["tikv_command"].cost_ns == 2 * 10**9 // 20_000


def test_a_real_answer_of_prometheus_gives_what_was_served() -> None:
    """Two instances served known rates to Prometheus 2.42 for a minute."""
    growths = together(read_stages(REAL, KNOWN))
    costs = {c.key: c.cost_ns for c in costs_of(growths)}
    assert costs["tikv_command"] == pytest.approx(690_000, rel=0.01)
    assert costs["store_message"] == pytest.approx(0.2e9 / (4_820 + 900 + 2_400), rel=0.01)
    assert costs["apply_command"] == pytest.approx(0.12e9 / 2_400, rel=0.01)


def test_what_a_cost_is_not_derived_from_may_hold_anything(tmp_path: Path) -> None:
    odd = {"metric": {"__name__": "tikv_odd"}, "values": [[0, "NaN"], [1, "NaN"]]}
    path = written(tmp_path, _answer(odd, *THREADS))
    assert len(read_stages(path, KNOWN)) == len(THREADS)
    with pytest.raises(CalibrationError, match="are none that costs are derived from, such as"):
        read_stages(written(tmp_path, _answer(odd)), KNOWN)


def test_a_series_that_is_in_two_files_is_refused(tmp_path: Path) -> None:
    paths = [written(tmp_path, _answer(*THREADS), name) for name in ("a.json", "b.json")]
    with pytest.raises(CalibrationError, match=r"b\.json: tikv_.*is in .*a\.json too"):
        together(growth for path in paths for growth in read_stages(path))


def test_a_metric_and_its_sum_are_not_added_up(tmp_path: Path) -> None:
    summed = _series("tikv_raftstore_proposal_total", 20_000)
    paths = [
        written(tmp_path, _answer(*THREADS), "a.json"),
        written(tmp_path, _answer(summed), "b.json"),
    ]
    with pytest.raises(CalibrationError, match=r"with other labels; ask for it in one way only"):
        together(growth for path in paths for growth in read_stages(path))


def test_files_of_different_times_are_refused(tmp_path: Path) -> None:
    later = _series("tikv_raftstore_proposal_total", 5)
    later["values"] = [[at + 3600, value] for at, value in later["values"]]
    paths = [
        written(tmp_path, _answer(THREADS[0]), "a.json"),
        written(tmp_path, _answer(later), "b.json"),
    ]
    with pytest.raises(CalibrationError, match=r"b\.json: data\.result: is of other 60 s"):
        together(growth for path in paths for growth in read_stages(path))


@pytest.mark.parametrize(("seconds", "count", "why"), [(1, 50, "too few"), (-1, 5000, "cannot be")])
def test_few_or_impossible_events_give_no_cost(seconds: float, count: float, why: str) -> None:
    stage = "tikv_raftstore_apply_log_duration_seconds"
    growths = [
        Growth(Path("x"), f"{stage}_{part}", {}, by, 0)
        for part, by in (("sum", seconds), ("count", count))
    ]
    cost = {each.key: each for each in costs_of(growths)}["apply_command"]
    assert cost.cost_ns is None
    assert why in cost.why


def test_a_restart_is_no_loss(tmp_path: Path) -> None:
    series = _series("tikv_raftstore_proposal_total", 0)
    series["values"] = [[0, "100"], [1, "150"], [2, "20"], [3, "30"]]
    growth = read_stages(written(tmp_path, _answer(series)))[0]
    assert (growth.by, growth.restarts) == (80, 1)


def test_toml_and_costs_make_a_scenario(tmp_path: Path) -> None:
    toml = written(tmp_path, "log-level = 'x'\n[raftstore]\nstore-pool-size = 4\n", "tikv.toml")
    growths = read_stages(written(tmp_path, _answer(*STAGES, *THREADS)))
    made = tikv_of(toml, growths)
    written(tmp_path, made.text, "tikv.yaml")
    scenario = written(
        tmp_path,
        "extends: tikv.yaml\nworkload: {kind: tpcc, warehouses: 9, threads: 5}\n",
        "s.yaml",
    )
    loaded = next(iter(load_study(scenario).variants.values()))
    assert loaded.tikv.store_pool_size == 4
    cpu = loaded.hardware.cpu
    assert cpu.store_message_ns == 37_500
    assert (cpu.store_visit_ns, cpu.log_byte_ns) == (0, 0)
    assert made.lines[0] == "tikv.toml: 1 of 2 keys are modelled"
    said = "not modelled: log-level. No part in locks, writes or their latency."
    assert said in made.lines


def test_every_key_of_a_tuned_file_is_modelled_or_says_what_is_missing() -> None:
    made = tikv_of(TUNED, [])
    missing = made.document["not_modelled"]
    assert len(made.toml.written) == len(made.toml.values) + len(missing) + 1
    assert "storage.block-cache.capacity" not in missing
    assert made.document["hardware"]["store_memory"] == "63716MiB"
    assert UNKNOWN not in missing.values()
    assert all(
        text.endswith(".") and text[0].isupper() for text in missing.values() if text[0] != "g"
    )


def test_what_is_missing_says_what_to_write_instead() -> None:
    missing = effects(["rocksdb.rate-bytes-per-sec"], {"rocksdb.rate-bytes-per-sec": "200MB"})
    (effect,) = missing
    assert "hardware.disk.kv.write_bandwidth" in effect


@pytest.mark.parametrize(
    ("key", "value", "is_default"),
    [
        ("rocksdb.writecf.write-buffer-size", "0.125GB", True),
        ("rocksdb.lockcf.write-buffer-size", "128MB", False),
        ("raftstore.lock-cf-compact-interval", "600s", True),
        ("storage.flow-control.enable", True, True),
        ("storage.flow-control.enable", 1, False),
        ("raftstore.messages-per-tick", "4096", False),
        ("raftstore.region-split-check-diff", "6MB", False),
    ],
)
def test_a_default_is_said_to_be_one(key: str, value: object, is_default: bool) -> None:
    ((said,),) = effects([key], {key: value}).values()
    assert said == (f"{key} (TiKV's default)" if is_default else key)


def test_a_key_that_nobody_knows_is_said_to_be_unknown() -> None:
    assert effects(["storage.whatever"], {"storage.whatever": 1}) == {UNKNOWN: ["storage.whatever"]}


def test_a_block_cache_that_is_no_size_is_refused(tmp_path: Path) -> None:
    toml = written(tmp_path, "[storage.block-cache]\ncapacity = 'much'\n", "tikv.toml")
    with pytest.raises(
        CalibrationError, match=r"storage\.block-cache\.capacity: 'much' is not a size"
    ):
        tikv_of(toml, [])


def test_a_toml_that_is_none_is_refused_with_its_name_once(tmp_path: Path) -> None:
    toml = written(tmp_path, "[[[", "tikv.toml")
    with pytest.raises(CalibrationError) as refused:
        tikv_of(toml, [])
    assert str(refused.value).count("tikv.toml") == 1


def test_slips_of_the_pen_are_told(tmp_path: Path) -> None:
    toml = written(tmp_path, "[raftstore]\nstore-poolsize = 4\nraft-log-x = 1\n", "tikv.toml")
    meant = [line for line in tikv_of(toml, []).lines if "meant?" in line]
    assert meant == ["raftstore.store-poolsize: not modelled; is raftstore.store-pool-size meant?"]


def test_an_answer_in_place_of_the_toml_is_told(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match=r"is JSON, not a tikv\.toml; .*--prometheus"):
        tikv_of(written(tmp_path, _answer(*THREADS)), [])


def test_a_toml_without_any_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match="has no key; check the name"):
        tikv_of(written(tmp_path, "# nothing\n", "tikv.toml"), [])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"status": "error", "error": "bad query"}, "the query failed: 'bad query'"),
        ({"status": "success", "data": {"resultType": "vector"}}, "is not a matrix"),
        (_answer(), "is empty; check the metric's name"),
        (_answer({"metric": {"type": "write"}, "values": []}), "has no name, as rates have none"),
        (_answer({"metric": {"__name__": "a"}, "values": [[0, "1"]]}), "has one value"),
        (_answer({"metric": {"__name__": "a"}, "values": [[0, "1"], [1, "-4"]]}), "has -4.0"),
        (_answer({"metric": {"__name__": "a"}, "values": [[0, "1"], [1, "NaN"]]}), "has nan"),
        (_answer({"metric": {"__name__": "a"}, "values": [5, 6]}), "not [time, value]"),
        (_answer({"metric": {"__name__": "a"}}), "is missing"),
        (_answer({"metric": {"__name__": "a"}, "values": [[0, 10**400], [1, 1]]}), "has inf"),
    ],
)
def test_what_is_no_answer_to_a_range_query_is_refused(
    tmp_path: Path, answer: dict[str, Any], message: str
) -> None:
    path = written(tmp_path, answer)
    with pytest.raises(CalibrationError) as refused:
        read_stages(path)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
