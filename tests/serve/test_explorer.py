"""What the explorer answers: explain's estimate, beside what was simulated of the same case."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest

from analysis.serve.controls import BY_NAME, CONTROLS, LOADS, LOCK_MODES, Base, settings
from analysis.study.documents import differences, document_of
from analysis.study.load import load_study
from sim.distributions import Spiky, mean_ns
from sim.estimate import estimate
from tests.page import hostile
from tests.serve.made_studies import study, summed_up
from tests.serve.served import Served, served

ROOT = Path(__file__).resolve().parents[2]
DEADLINE_S = 300.0
RFC77 = "scenario:rfc77"


@pytest.fixture(name="server", scope="module")
def a_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    results = tmp_path_factory.mktemp("explorer") / "results"
    summed_up(results, "small")
    study(results, "broken")
    with served(results) as server:
        yield server


def answer(server: Served, base: str, **turned: str) -> Any:
    more = "".join(f"&{name}={value}" for name, value in turned.items())
    return server.get(f"/api/answer?base={base}{more}").json


def test_nothing_turned_is_what_explain_says(server: Served) -> None:
    made = load_study(ROOT / "scenarios" / "rfc77.yaml")
    modes = answer(server, RFC77)["modes"]
    assert list(modes) == list(LOCK_MODES)
    for mode, found in modes.items():
        expected = estimate(made.scenario({}, mode))
        assert found["figures"]["lock_latency_ms"] == expected.lock_latency_ms
        assert found["figures"]["txn_per_s"] == expected.txn_per_s
        assert found["bottleneck"] == expected.bottleneck
        assert found["busiest"] == expected.busiest.used
        assert found["left_out"] == list(expected.left_out)
        busy = {each["name"]: each["busy"] for each in found["stations"]}
        assert busy == {each.name: each.utilisation for each in expected.stations}
        assert found["simulated"] == []


TURNED = {
    "threads": 10, "append": 0.3, "amplification": 5, "pollers": 4, "writers": 2, "appliers": 4,
    "stores": 5, "replicas": 5, "zones": 3, "inside": 0.5, "between": 2, "rate": 300,
}  # fmt: skip


@pytest.mark.parametrize("name", [control.name for control in CONTROLS])
def test_each_control_changes_its_key_and_nothing_else(server: Served, name: str) -> None:
    base = server.site.explorer.base(RFC77)
    turned = {"stores": 5.0} if name == "replicas" else {}
    before, after = (
        base.study.scenario(base.point(values, "pipelined"), base.variant)
        for values in (turned, turned | {name: float(TURNED[name])})
    )
    assert BY_NAME[name].of(after) == pytest.approx(TURNED[name], rel=1e-4)
    changed = differences(document_of(before), document_of(after))
    allowed = {"workload.threads", "workload.rate"} if name in LOADS else {BY_NAME[name].key}
    assert changed
    assert [key for key in changed if not key.startswith(tuple(allowed))] == []


def test_a_latency_keeps_its_shape(server: Served) -> None:
    base = server.site.explorer.base(RFC77)
    before = base.scenario.hardware.raft_disk.append
    made = base.study.scenario(base.point({"append": 7.0}, "sync"), base.variant)
    after = made.hardware.raft_disk.append
    factor = mean_ns(after) / mean_ns(before)
    assert mean_ns(after) == pytest.approx(7e6, rel=1e-6)
    assert isinstance(before, Spiky)
    assert isinstance(after, Spiky)
    for one, other in (
        (before.lo_ns, after.lo_ns),
        (before.hi_ns, after.hi_ns),
        *zip(astuple(before.base), astuple(after.base), strict=True),
    ):
        assert other / one == pytest.approx(factor, rel=1e-5)
    assert after.prob == before.prob


@pytest.mark.parametrize(
    ("turned", "says"),
    [({"threads": "0"}, "Clients (threads): write a whole number from 1 to 1600"),
     ({"threads": "1.5"}, "a whole number"), ({"append": "nan"}, "a number from 0.02 to 10"),
     ({"append": "%3Cscript%3E"}, "a number"), ({"rate": "1e999"}, "a number"),
     ({"threads": "5", "rate": "100"}, "leave one of the two out"),
     ({"replicas": "5"}, "replicas need as many stores")],
)  # fmt: skip
def test_what_cannot_be_is_said(server: Served, turned: dict[str, str], says: str) -> None:
    assert says in answer(server, RFC77, **turned)["problem"]


@pytest.mark.parametrize(
    "base", ["", "scenario:none", "scenario:etcd_1ms", "study:broken", "study:none"]
)
def test_a_base_without_an_estimate_is_said(server: Served, base: str) -> None:
    assert answer(server, base)["problem"]
    page = server.get(f"/explore?base={base}")
    assert (page.status, 'class="alarm"' in page.text) == (200, True)


def test_every_shipped_scenario_has_an_answer_or_says_why(server: Served) -> None:
    for name in server.site.explorer.scenarios():
        found = answer(server, f"scenario:{name}")
        assert ("modes" in found) != ("problem" in found)
        assert "modes" in found or name.startswith("etcd")


def test_rows_of_a_study_stand_by_their_own_case_only(server: Served) -> None:
    found = answer(server, "study:small")["modes"]
    told = {mode: found[mode]["simulated"] for mode in found}
    assert [len(told[mode]) for mode in ("sync", "pipelined", "in_memory")] == [0, 1, 1]
    figure = told["pipelined"][0]["figures"]["lock_latency_ms"]
    assert (figure["value"], figure["words"]) == (2.0, "2.00 ± 0.02")
    assert told["pipelined"][0]["busy"]["store_poller"] == 0.97
    turned = answer(server, "study:small", pollers="3")["modes"]
    assert all(turned[mode]["simulated"] == [] for mode in turned)


def test_a_curve_passes_through_the_values_of_the_study(server: Served, tmp_path: Path) -> None:
    points = "{workload.rate: 70/s, cluster.stores: 3}, {workload.rate: 333/s, cluster.stores: 7}"
    swept = f"sweep: {{points: [{points}]}}"
    file = hostile.scenario(tmp_path, "What of rates?", swept)
    made, numbers = load_study(file), server.site.explorer.base("study:small").numbers
    assert numbers
    after, before = (
        {each["name"]: each["steps"] for each in settings(Base("it", file, made, known), {})}
        for known in (numbers, {})
    )
    assert {70, 333} <= set(after["rate"])
    assert 7 in after["stores"]
    assert 333 not in before["rate"]
    assert after["pollers"] == before["pollers"]
    assert all(steps == sorted(set(steps)) for steps in after.values())


def test_the_file_is_the_very_case(server: Served, tmp_path: Path) -> None:
    cases: tuple[tuple[str, dict[str, float]], ...] = (
        (RFC77, {"threads": 10.0, "append": 0.3}),
        (RFC77, {"rate": 300.0}),
        ("study:small", {"zones": 2.0}),
        ("scenario:sweep_threads", {}),
    )
    for base, turned in cases:
        start = server.site.explorer.base(base)
        more = "".join(f"&{name}={value:g}" for name, value in turned.items())
        file = tmp_path / "copied.yaml"
        file.write_text(server.get(f"/api/scenario?base={base}{more}").text)
        copied = load_study(file)
        for mode in LOCK_MODES:
            theirs = start.study.config_hash(start.point(turned, mode), start.variant, 0)
            assert copied.config_hash({}, mode, 0) == theirs


def wait(server: Served) -> dict[str, Any]:
    deadline_s = time.monotonic() + DEADLINE_S
    while (state := server.get("/api/simulate").json)["state"] == "running":
        assert time.monotonic() < deadline_s
        time.sleep(0.1)
    return dict(state)


@pytest.mark.slow
def test_a_unit_is_simulated_here_and_stands_by_its_case(server: Served) -> None:
    begun = server.post("/api/simulate?base=study:small&zones=2&mode=sync")
    assert (begun.status, begun.json["state"]) == (202, "running")
    again = server.post("/api/simulate?base=study:small&zones=2&mode=sync")
    assert (again.status, "one unit" in again.json["problem"]) == (400, True)
    assert wait(server) == {"state": "done"}
    found = answer(server, "study:small", zones="2")["modes"]
    assert [len(found[mode]["simulated"]) for mode in found] == [1, 0, 0]
    (simulated,) = found["sync"]["simulated"]
    figure = simulated["figures"]["txn_per_s"]
    assert figure["low"] < figure["value"] < figure["high"]
    assert figure["value"] == pytest.approx(found["sync"]["figures"]["txn_per_s"], rel=0.2)
    assert simulated["values"] == 5
    assert answer(server, "study:small")["modes"]["sync"]["simulated"] == []
    server.post("/api/simulate?base=study:small&zones=2&mode=sync")
    assert wait(server) == {"state": "done"}
    (more,) = answer(server, "study:small", zones="2")["modes"]["sync"]["simulated"]
    assert more["values"] == 10


@pytest.mark.slow
def test_a_unit_can_be_stopped(server: Served) -> None:
    server.post("/api/simulate?base=scenario:rfc77&mode=sync")
    assert server.post("/api/simulate/stop").json == {"state": "stopped"}
    assert answer(server, RFC77)["modes"]["sync"]["simulated"] == []


def test_no_such_mode_is_simulated(server: Served) -> None:
    found = server.post("/api/simulate?base=study:small&mode=none")
    assert (found.status, "no lock mode" in found.json["problem"]) == (400, True)
