"""Any study written out and read back is the same study, with the same units."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.metrics.catalogue import METRICS, MetricKey
from analysis.study.figures import limit_of, limit_text
from analysis.study.study import Study
from tests.study.study_files import load_on_diagonal

Document = dict[str, Any]

AXES: dict[str, list[Any]] = {
    "workload.think_time": ["0s", "3ms", {"mean": "2ms"}, {"p50": "1ms", "p99": "4ms"}],
    "cluster.stores": [3, 4, 5],
    "cluster.tidb_nodes": [1, 2, 7],
    "hardware.profile": ["gp3_max", "i3.4xlarge", "i4i.4xlarge"],
    "hardware.disk.raft.append": ["1ms", {"mean": "300us", "cv": 0.5}],
    "hardware.disk.raft.append.mean": ["100us", "2ms"],
    "hardware.store_cores": [4, 16],
    "hardware.lsm.write_amplification": [2, 5.5, 10],
    "tikv.behaviour": ["rfc77", "v8.5"],
    "tikv.pessimistic-txn.wake-up-delay-duration": ["5ms", "20ms"],
}
RANGES: dict[str, list[Any]] = {
    "cluster.stores": [3, 9],
    "hardware.store_cores": [8, 64],
    "hardware.lsm.write_amplification": [1.5, 12.0],
    "hardware.disk.raft.append.mean": ["80us", "2.5ms"],
    "hardware.disk.raft.write_iops": [3000, 200000],
    "tikv.pessimistic-txn.in-memory-peer-size-limit": ["4KiB", "2MiB"],
}
VARIANTS: list[Document] = [
    {"tikv.pessimistic-txn.in-memory": False},
    {"tikv.pessimistic-txn.pipelined": False},
    {"workload.mix": {"new_order": 3, "payment": 2}},
    {"hardware.network": "same_host"},
]

CLASSES = ("all", "new_order", "raft_log/lock")
OF_TRANSACTIONS = ("txn_latency_ms", "txn_per_s")
UNLIMITED = ("txn_per_s", "tpmc", "txn_aborts")
"""Better the higher they are, or written with a percent sign, which makes another metric of it."""


def keys(metrics: list[str]) -> st.SearchStrategy[str]:
    return st.sampled_from(metrics).flatmap(
        lambda metric: st.builds(
            lambda class_, stat: str(MetricKey(metric, class_, stat)),
            st.sampled_from(CLASSES[: 2 if metric in OF_TRANSACTIONS else 3]),
            st.sampled_from(METRICS[metric].stats),
        )
    )


@st.composite
def limits(draw: st.DrawFn) -> Document:
    units = {"ms": "us", "B": "KiB", "B/s": "MB/s", "1/s": "/min"}
    bounded = [metric for metric in METRICS if metric not in UNLIMITED]
    slo: Document = {}
    for key in draw(st.lists(keys(bounded), min_size=1, max_size=4, unique=True)):
        metric = key.partition(".")[0]
        amount = draw(st.integers(1, 99_999))
        unit = units.get(METRICS[metric].unit, "")
        slo[key] = f"{amount / 1000:g}%" if METRICS[metric].is_share else f"{amount}{unit}"
        if not unit and not METRICS[metric].is_share:
            slo[key] = amount
    return slo


@st.composite
def sweeps(draw: st.DrawFn, axes_of: Document) -> Document:
    form = draw(st.sampled_from(["grid", "points", "latin_hypercube"]))
    if form == "latin_hypercube":
        ranges = draw(chosen(RANGES, 1))
        bounds = {key: {"between": value} for key, value in ranges.items()}
        return {form: {"samples": draw(st.integers(2, 5)), "ranges": bounds}}
    axes = {
        key: draw(st.lists(st.sampled_from(values), min_size=1, unique_by=str))
        for key, values in draw(chosen(axes_of, 1)).items()
    }
    if form == "grid":
        key, values = next(iter(axes.items()))
        skip = [{key: values[0]}] if len(values) > 1 and draw(st.booleans()) else []
        return {form: axes, "skip": skip}
    count = max(len(values) for values in axes.values())
    points = [{key: v[place % len(v)] for key, v in axes.items()} for place in range(count)]
    return {form: [point for place, point in enumerate(points) if point not in points[:place]]}


def chosen(from_: Document, least: int) -> st.SearchStrategy[Document]:
    some = st.lists(st.sampled_from(list(from_)), min_size=least, max_size=3, unique=True)
    return some.map(lambda names: {name: from_[name] for name in names})


@st.composite
def studies(draw: st.DrawFn) -> Document:
    load: Document = draw(st.sampled_from([{"threads": 7}, {"rate": "300/s"}]))
    document: Document = {
        "about": "Which?",
        "run": {"seed": draw(st.integers(0, 9)), "replications": draw(st.integers(2, 60))},
        "workload": {"kind": "tpcc", "warehouses": 10, **load},
    }
    others = draw(st.lists(st.sampled_from(VARIANTS), max_size=2, unique_by=str))
    if others:
        document["compare"] = {"a": {}} | {f"v{n}": other for n, other in enumerate(others)}
    question = draw(st.sampled_from(["none", "precision", "capacity", "sensitivity"]))
    if question == "sensitivity":
        bounds = draw(chosen(RANGES, 2))
        factors = {key: {"between": v, "scale": "log"} for key, v in bounds.items()}
        outcomes = draw(st.lists(keys(list(METRICS)), min_size=1, max_size=3, unique=True))
        document["sensitivity"] = {"factors": factors, "outcomes": outcomes, "samples": 8}
        return document
    if draw(st.booleans()):
        # Only clients that wait for answers think; a figure is not swept beside a part of it.
        left_out = "append" if "threads" in load else "think_time"
        axes = {key: values for key, values in AXES.items() if not key.endswith(left_out)}
        document["sweep"] = draw(sweeps(axes))
    if question == "precision":
        targets = draw(st.lists(keys(list(METRICS)), min_size=1, max_size=3, unique=True))
        document["run"]["precision"] = {key: f"{n + 0.7}%" for n, key in enumerate(targets)}
    if question == "capacity":
        between = [2, 900] if "threads" in load else ["1.5/s", "90000/min"]
        key = "workload.threads" if "threads" in load else "workload.rate"
        prices = {"all": {"store": 0.1, "tidb_node": 1}}
        document["capacity"] = {"slo": draw(limits()), "load": key, "between": between,
                                "tolerance": "2.5%", "prices": prices}  # fmt: skip
    return document


def read(folder: Path, text: str) -> Study:
    (folder / "x.yaml").write_text(text, encoding="utf-8")
    return load_on_diagonal(folder / "x.yaml")


def asked_points(study: Study) -> list[Document]:
    """Returns points of the study, and some that an experiment would ask for."""
    points = [dict(point) for point in study.points]
    if study.capacity is not None:
        points += [point | {study.capacity.load: study.capacity.load_value(44)} for point in points]
    if study.sensitivity is not None:
        factors = study.sensitivity.factors
        points += [{factor.key: factor.at(share) for factor in factors} for share in (0, 0.4, 1)]
    return points


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(studies())
def test_a_study_written_and_read_is_the_same(document: Document) -> None:
    with TemporaryDirectory() as folder:
        study = read(Path(folder), yaml.safe_dump(document, sort_keys=False))
        written = study.resolved_yaml()
        again = read(Path(folder), written)
        assert again == study
        assert "latin_hypercube" not in written
        for point in asked_points(study):
            for variant in study.variants:
                assert again.config_hash(point, variant, 1) == study.config_hash(point, variant, 1)


@given(keys([metric for metric in METRICS if metric not in UNLIMITED]), st.floats(1e-9, 1))
def test_a_limit_written_and_read_is_the_same(text: str, share: float) -> None:
    unit = {"ms": 1e6, "B": 1, "B/s": 1}.get(METRICS[text.partition(".")[0]].unit)
    limit = share if unit is None else max(round(share * 1e9), 1) / unit
    key = MetricKey.parse(text)
    assert limit_of(key, limit_text(key, limit)) == (key, limit)
