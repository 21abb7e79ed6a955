"""A downgrade with in-memory locks switched on, and with them switched off first.

Source: RFC 77, Compatibility; tikv/tikv components/pd_client/src/feature_gate.rs.
"""

from __future__ import annotations

import pytest

from sim.engine import Process
from sim.protocol.percolator import Acquired, PessimisticLockNotFound, Prewritten
from sim.raftstore.write_thread import WriteGroups
from sim.server.control import IN_MEMORY, Control
from sim.storage.request import LockPath
from sim.units import NS_PER_MS, NS_PER_S
from tests.scenes import IN_MEMORY as IN_MEMORY_LOCKS
from tests.scenes import SYNC, Scene, constant_scenario

MINE, OTHERS = 10 << 18, 20 << 18


@pytest.mark.parametrize("disabled_first", [False, True])
def test_a_downgrade_loses_locks_unless_the_feature_is_disabled_first(
    disabled_first: bool,
) -> None:
    # As in the RFC's text: an old store ignores the locks that its leader hands to it.
    of = Scene(constant_scenario(tikv=IN_MEMORY_LOCKS | {"behaviour": "rfc77"}))
    control = Control(of.cluster)
    of.env.at(NS_PER_MS, lambda _: control.upgrade_store(3, "5.4.0"), None)
    if disabled_first:
        of.env.at(NS_PER_MS, lambda _: control.set_config(IN_MEMORY, False), None)
    mine = of.lock(b"k", MINE, 2 * NS_PER_MS)
    of.env.at(10 * NS_PER_MS, lambda _: control.transfer_leader(1, 3), None)
    of.run(NS_PER_S)
    assert isinstance(mine.result, Acquired)
    assert mine.path is (LockPath.PIPELINED if disabled_first else LockPath.IN_MEMORY)
    assert of.leader(b"k").store == 3
    others = of.lock(b"k", OTHERS, NS_PER_S + NS_PER_MS)
    prewrite = of.prewrite(b"k", MINE, NS_PER_S + 100 * NS_PER_MS)
    of.run(2 * NS_PER_S)
    lost = sum(
        counter.value for counter in of.recorder.counters() if counter.metric == "locks_lost"
    )
    if disabled_first:
        assert not isinstance(others.result, Acquired)
        assert isinstance(prewrite.result, Prewritten)
        assert lost == 0
    else:
        assert isinstance(others.result, Acquired)
        assert isinstance(prewrite.result, PessimisticLockNotFound)
        assert lost == 1


def test_a_gate_that_is_open_stays_open_until_its_process_ends() -> None:
    of = Scene(constant_scenario(tikv=IN_MEMORY_LOCKS))
    control = Control(of.cluster)
    gates = {store_id: store.scheduler.lock_paths for store_id, store in of.cluster.stores.items()}
    control.upgrade_store(3, "5.4.0")
    assert [gates[store].in_memory for store in (1, 2, 3)] == [True, True, False]
    control.crash_store(2)
    control.restart_store(2)
    assert [gates[store].in_memory for store in (1, 2, 3)] == [True, False, False]
    control.upgrade_store(3, "6.0.0")
    assert [gates[store].in_memory for store in (1, 2, 3)] == [True, True, True]


@pytest.mark.parametrize("upgraded", [False, True])
def test_an_upgraded_store_has_no_write_groups_any_more(
    monkeypatch: pytest.MonkeyPatch, *, upgraded: bool
) -> None:
    joined: list[WriteGroups] = []
    sound = WriteGroups.insert

    def insert(groups: WriteGroups, process: Process, work_ns: int, records: int) -> None:
        joined.append(groups)
        sound(groups, process, work_ns, records)

    monkeypatch.setattr(WriteGroups, "insert", insert)
    cluster = {"store_versions": ("5.4.0",) * 3}
    of = Scene(constant_scenario(tikv=SYNC, cluster=cluster))

    def leader_writes_after_another(key: bytes) -> int:
        of.lock(key, MINE, of.env.now_ns + NS_PER_MS)
        of.run(of.env.now_ns + 50 * NS_PER_MS)
        return joined.count(joined[0])  # Followers hear of the commit later.

    assert leader_writes_after_another(b"k") == 1
    if upgraded:
        Control(of.cluster).upgrade_store(1, "6.0.0")
    assert leader_writes_after_another(b"l") == (1 if upgraded else 2)
