"""Checkers are worth what they find: each is shown to speak up when its law is broken."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sim.checks.checkers import LAWS
from sim.hardware import Disk
from sim.hardware.file_system import Metadata
from sim.raftstore.disk_bytes import COMPACTION
from sim.record.facts import MemorySink
from sim.simulation import SimulatedUnit
from sim.units import NS_PER_MS
from tests.scenes import PIPELINED, SYNC, Scene, constant_scenario, scenario, script, update


def ran() -> Scene:
    scene = Scene(constant_scenario(tikv=SYNC), [b"", b"m"])
    scene.begin(script(update(b"a", b"y")))
    return scene.run()


def test_a_sound_run_breaks_nothing() -> None:
    assert ran().violations() == []


def lose_a_page(scene: Scene) -> None:
    scene.cluster.stores[2].machine.raft_disk.written_bytes -= 4096


def write_in_secret(scene: Scene) -> None:
    scene.cluster.stores[3].machine.kv_disk.background_write(scene.env.now_ns, 1)


def charge_twice(scene: Scene) -> None:
    scene.cluster.ledger.by_place[COMPACTION][0].value += 7


def end_twice(scene: Scene) -> None:
    scene.stats.committed("t", 0)


def end_and_abort(scene: Scene) -> None:
    scene.stats.aborted("rollback", 0)


def stay_longer_than_told(scene: Scene) -> None:
    scene.stats.stays_ns -= 1


@pytest.mark.parametrize(
    ("mutant", "reason"),
    [
        (lose_a_page, "but places and causes sum to"),
        (write_in_secret, "disks wrote"),
        (charge_twice, "places and causes"),
        (end_twice, "2 transactions ended and 0 run, but 1 were started"),
        (end_and_abort, "2 transactions ended and 0 run, but 1 were started"),
        (stay_longer_than_told, "Little's law"),
    ],
)
def test_a_planted_mistake_is_found(mutant: Callable[[Scene], None], reason: str) -> None:
    scene = ran()
    mutant(scene)
    (violation,) = scene.violations()
    assert reason in violation


def test_a_units_bill_carries_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    sync_write = Disk.sync_write

    def forgetful(disk: Disk, now_ns: int, size_bytes: int, metadata: Metadata) -> int:
        finish_ns = sync_write(disk, now_ns, size_bytes, metadata)
        disk.written_bytes -= size_bytes // 8
        return finish_ns

    monkeypatch.setattr(Disk, "sync_write", forgetful)
    run = {"warmup_ns": 0, "measure_ns": 100 * NS_PER_MS}
    unit = SimulatedUnit(scenario("hot_row", run=run, tikv=PIPELINED), 0, MemorySink())
    unit.run()
    result = unit.result()
    assert result.checked == 3 + LAWS
    assert [line.split(" bytes")[0][:11] for line in result.violations] == ["disks wrote"]
