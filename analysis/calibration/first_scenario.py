"""A whole scenario from what was measured: ready to run, and asking for the capacity.

Law: every figure says where it is from, measured or assumed. What was measured is written as
``calibrate`` writes it. What nobody measured (load, promise, machine) is assumed, says so, and lies
where an estimate of the same scenario finds the answer: at a load that the cluster can carry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from analysis.calibration.disk_profile import DiskProfile
from analysis.calibration.network_profile import NetworkProfile
from analysis.calibration.profile_text import Part, disk_part, document_of, file_text
from analysis.calibration.refusal import CalibrationError
from analysis.calibration.tikv_profile import TikvProfile
from analysis.study.load import load_study
from sim.estimate import Estimate, estimate
from sim.scenario import ScenarioError
from sim.scenario.profiles import DEFAULT_MACHINE
from sim.scenario.quantities import RATE
from sim.scenario.resolved import Scenario
from sim.scenario.section import Document

_ASSUMED: Final = "ASSUMED"
_VERSION: Final = "v8.5"
_WAREHOUSES: Final = 1_000
_MANY: Final = 400
"""Threads at which a cluster does about what it can."""
_FEW: Final = 5
"""Threads that hardly meet each other."""
_SLACK: Final = 4
"""Times the mean of a transaction on an idle cluster: the promise; p95 alone is twice the mean."""
_PROMISE_MS: Final = 100
"""The least that is promised."""
_BELOW, _ABOVE = 8, 1.5
"""The search begins at an eighth of the estimate, and ends at half as much again."""
_GROWS: Final = {"recycled": "overwriting", "preallocated": "preallocated", "growing": "growing"}
"""How fio's file grows where the raft log does so."""


_HEAD: Final = (
    "Made from measurements. What they do not say is marked ASSUMED: put in your own before",
    "you believe the answer.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredCluster:
    """What is known of a cluster.

    Attributes:
        disks: profiles by how fio's file grew, the one with most runs first; may be empty.
        network: None if nobody measured it.
        tikv: None if there is no ``tikv.toml``.
        machine: a profile, for what was not measured.
        rate: transactions a second at present; None if nobody knows.
    """

    disks: Sequence[DiskProfile] = ()
    network: NetworkProfile | None = None
    tikv: TikvProfile | None = None
    machine: str | None = None
    rate: float | None = None


@dataclass(frozen=True, slots=True)
class _Load:
    """Loads in transactions a second, and the promise in milliseconds."""

    now: float
    low: int
    high: int
    promise_ms: int


def first_scenario(measured: MeasuredCluster) -> str:
    """Returns a scenario as YAML.

    Raises:
        CalibrationError: if what was measured makes no scenario together.
    """
    disk = next(iter(measured.disks), None)
    cluster = _cluster(measured, disk)
    if disk is not None:
        grown = _GROWS[_scenarios(measured, cluster, _FEW)[0].tikv.log_file]
        disk = next((each for each in measured.disks if each.pattern == grown), disk)
        cluster = _cluster(measured, disk, grown)
    load = _load(measured, cluster)
    return file_text(_HEAD, [*_run(load), *cluster, *_question(measured, load)])


def _run(load: _Load) -> Iterator[Part]:
    about = (
        f"How many transactions a second before 1 in 20 new orders takes longer than "
        f"{load.promise_ms} ms?"
    )
    yield Part("", (), {"about": about})
    said = ("Of simulated time, per replication; longer and more make intervals narrower.",)
    yield Part("run", said, {"seed": 1, "warmup": "500ms", "measure": "1s", "replications": 3})


def _cluster(
    measured: MeasuredCluster, disk: DiskProfile | None, grown: str | None = None
) -> Sequence[Part]:
    """Returns sections ``hardware`` and ``tikv``.

    Args:
        measured: what is known.
        disk: the profile that is taken.
        grown: how the raft log's file grows, where that is known.
    """
    missing = ["cores", *(["disks"] if disk is None else [])]
    missing += ["network"] if measured.network is None else []
    tikv = [] if measured.tikv is None else measured.tikv.parts
    if not any("store_memory" in part.keys for part in tikv):
        missing.insert(1, "memory")
    asked = "as asked for" if measured.machine else f"{_ASSUMED}; name yours, or write its figures"
    machine = f"profile: gives {', '.join(missing)}, {asked}."
    profile = measured.machine or DEFAULT_MACHINE
    parts = [Part("hardware", (machine,), {"profile": profile})]
    if disk is not None:
        part = disk_part(disk)
        parts.append(Part(part.section, (*_which(disk, grown), *part.said), part.keys))
    if measured.network is not None:
        parts.append(measured.network.part)
    parts += [part for part in tikv if part.section == "hardware"]
    version = f"behaviour: {_ASSUMED}, since no tikv.toml says its version. Write yours."
    own = next((part for part in tikv if part.section == "tikv"), Part("tikv", (), {}))
    parts.append(Part("tikv", (version, *own.said), {"behaviour": _VERSION} | own.keys))
    return parts


def _which(disk: DiskProfile, grown: str | None) -> Iterator[str]:
    """Yields whether fio wrote its file as the raft log is written."""
    if grown is None or disk.pattern == grown:
        yield f"The disk of the raft log: fio with a file that is {disk.pattern}, as the log is."
    else:
        yield (
            f"The disk of the raft log: fio with a file that is {disk.pattern}. {_ASSUMED}: the "
            f"log is {grown}, which no run with one job shows."
        )


def _question(measured: MeasuredCluster, load: _Load) -> Iterator[Part]:
    now = "as asked for" if measured.rate else f"{_ASSUMED}; headroom is counted from it"
    said = (
        f"{_ASSUMED}: TPC-C stands in for your transactions; kind: custom describes your own.",
        f"rate: transactions a second at present, {now}.",
    )
    yield Part("workload", said, {
        "kind": "tpcc", "warehouses": _WAREHOUSES, "rate": RATE.text_of(load.now),
    })  # fmt: skip
    yield Part("compare", (), _variants(measured))
    said = (
        f"slo: the promise. {_ASSUMED}: {_SLACK} times a transaction on an idle cluster, at least "
        f"{_PROMISE_MS} ms.",
        "between: where to search; from an eighth to one and a half of what an estimate says can "
        "be done.",
    )
    promise = f"{load.promise_ms}ms"
    yield Part("capacity", said, {
        "slo": {"txn_latency_ms.new_order.p95": promise, "txn_aborts": "1%"},
        "load": "workload.rate",
        "between": [RATE.text_of(load.low), RATE.text_of(load.high)],
        "tolerance": "10%",
    })  # fmt: skip


def _variants(measured: MeasuredCluster) -> Document:
    """Returns the ways to lock that are compared: the one in use if it is neither, then both."""
    toml = {} if measured.tikv is None else measured.tikv.toml.values
    pipelined, in_memory = "tikv.pessimistic-txn.pipelined", "tikv.pessimistic-txn.in-memory"
    if toml.get(pipelined.removeprefix("tikv.")) is False:
        return {
            "sync": {pipelined: False},
            "pipelined": {pipelined: True, in_memory: False},
            "in_memory": {pipelined: True, in_memory: True},
        }
    return {"pipelined": {in_memory: False}, "in_memory": {in_memory: True}}


def _load(measured: MeasuredCluster, cluster: Sequence[Part]) -> _Load:
    """Returns loads at which the cluster has an answer, from estimates of every variant."""
    most = [each.txn_per_s for each in _estimates(measured, cluster, _MANY)]
    idle_ms = max(each.response_ms or 0.0 for each in _estimates(measured, cluster, _FEW))
    low, high = _two_digits(min(most) / _BELOW), _two_digits(max(most) * _ABOVE)
    promise_ms = max(_PROMISE_MS, _two_digits(_SLACK * idle_ms))
    return _Load(measured.rate or 2 * low, low, high, promise_ms)


def _two_digits(value: float) -> int:
    return max(1, round(float(f"{value:.2g}")))


def _estimates(measured: MeasuredCluster, cluster: Sequence[Part], threads: int) -> list[Estimate]:
    return [estimate(scenario) for scenario in _scenarios(measured, cluster, threads)]


def _scenarios(measured: MeasuredCluster, cluster: Sequence[Part], threads: int) -> list[Scenario]:
    """Returns every variant, resolved, with so many threads.

    Raises:
        CalibrationError: if the parts do not fit each other.
    """
    workload = {"kind": "tpcc", "warehouses": _WAREHOUSES, "threads": threads}
    document = {**document_of(cluster), "workload": workload, "compare": _variants(measured)}
    try:
        return list(load_study(document).variants.values())
    except ScenarioError as error:
        problem = error.problems[0]
        place = measured.machine or "--machine" if "profile" in problem.path else problem.path
        source = measured.tikv.file if measured.tikv is not None else Path("init")
        raise CalibrationError(source, place, problem.message) from None
