"""How transactions end: in one phase, asynchronously, in two phases, or not at all."""

from __future__ import annotations

import pytest

from sim.protocol.mvcc import PESSIMISTIC
from sim.protocol.percolator import KeyIsLocked, Prewritten
from sim.storage.request import Kind
from sim.units import NS_PER_MS, NS_PER_S
from sim.workload.statement import ROLLBACK, Read, ReadKind, Statement
from tests.scenes import (
    IN_MEMORY,
    ONE_WAY_NS,
    PIPELINED,
    STATEMENT_NS,
    SYNC,
    Scene,
    constant_scenario,
    point_update,
    script,
    update,
)

TWO_REGIONS = [b"", b"m"]
TWO_PHASES: dict[str, object] = {"one_pc": False, "async_commit": False}


def scene(tidb: dict[str, object] | None = None, **parts: dict[str, object]) -> Scene:
    return Scene(constant_scenario(tidb=tidb, **parts), TWO_REGIONS)


def counts(of: Scene) -> tuple[int, int, int]:
    return of.counted("lock_rpcs"), of.counted("prewrite_rpcs"), of.counted("commit_rpcs")


@pytest.mark.parametrize("mode", [IN_MEMORY, PIPELINED, SYNC])
def test_one_region_is_committed_in_one_phase(mode: dict[str, object]) -> None:
    of = scene(tikv=mode)
    of.begin(script(update(b"a", b"b")))
    of.run()
    assert of.counted("txns", "t") == 1
    assert counts(of) == (1, 1, 0)
    assert of.counted("proposals", "commit") == 1
    assert of.counted("proposals", "prewrite") == 0
    assert of.locked_keys() == []


def test_work_of_the_clients_machine_keeps_no_thread_of_tidb_busy() -> None:
    quick, slow = (scene(cpu={"client_statement_ns": cost_ns}) for cost_ns in (0, 7 * NS_PER_MS))
    for of in (quick, slow):
        of.begin(script(update(b"a", b"b")))
        of.run()
    latencies = [of.recorder.series("txn_latency", "t").max for of in (quick, slow)]
    # BEGIN, UPDATE and COMMIT; the raft log's rhythm is met elsewhere.
    assert latencies[1] - latencies[0] == pytest.approx(3 * 7 * NS_PER_MS, rel=0.02)
    busy_ns = [of.node.busy_until(of.env.now_ns) for of in (quick, slow)]
    assert busy_ns[0] == busy_ns[1] > 0
    client_ns = slow.cluster.client_machine.busy_until(slow.env.now_ns)
    assert client_ns == pytest.approx(3 * 7 * NS_PER_MS)


def test_async_commit_is_over_when_all_is_prewritten() -> None:
    of = scene()
    of.begin(script(update(b"a", b"y")))
    of.run()
    # The first lock goes ahead of the others; commits follow in the background.
    assert counts(of) == (2, 2, 2)
    synchronous = scene({"async_commit": False})
    synchronous.begin(script(update(b"a", b"y")))
    synchronous.run()
    quick, slow = (s.recorder.series("txn_latency", "t").max for s in (of, synchronous))
    assert slow - quick > NS_PER_MS
    assert of.locked_keys() == synchronous.locked_keys() == []


def test_more_than_256_keys_are_committed_in_two_phases() -> None:
    latencies = []
    for keys in (256, 257):
        of = scene({"one_pc": False})
        of.begin(script(update(*(b"%03d" % n for n in range(keys)))))
        of.run()
        assert of.counted("txns", "t") == 1
        latencies.append(of.recorder.series("txn_latency", "t").max)
    # A timestamp and the commit of the primary are waited for.
    assert latencies[1] - latencies[0] > 2 * ONE_WAY_NS + NS_PER_MS


def test_more_than_4_kib_of_keys_are_committed_in_two_phases() -> None:
    of = scene({"one_pc": False})
    of.begin(script(update(*(b"%03d" % n + bytes(50) for n in range(100)))))
    of.run()
    written = of.leader(b"0").state.mvcc
    assert of.counted("txns", "t") == 1
    assert written.locks == {}


def test_two_phases_commit_the_primary_first() -> None:
    of = scene(TWO_PHASES)
    of.begin(script(update(b"a", b"y")))
    of.run()
    assert counts(of) == (2, 2, 2)
    assert of.locked_keys() == []


def test_a_rolled_back_transaction_frees_its_locks_and_writes_no_version() -> None:
    of = scene()
    of.begin(script(update(b"a", b"y"), ROLLBACK))
    of.run()
    assert of.counted("txn_aborts", "rollback") == 1
    assert of.counted("prewrite_rpcs") == 0
    assert of.locked_keys() == []
    assert list(of.cluster.tso.running) == []


def test_a_locked_row_that_is_not_written_is_prewritten_all_the_same() -> None:
    of = scene()
    of.begin(script(Statement("lock", (), (b"a",)), update(b"b")))
    of.run()
    assert of.counted("mutations") == 2
    assert of.locked_keys() == []


def test_autocommit_sends_no_lock_requests() -> None:
    of = scene()
    of.begin(script(point_update(b"a"), autocommit=True))
    of.run()
    assert counts(of) == (0, 1, 0)
    assert of.counted("txns", "t") == 1


def test_autocommit_that_meets_a_newer_version_tries_again_with_locks() -> None:
    of = scene()
    for _ in range(2):
        of.begin(script(point_update(b"a"), autocommit=True))
    of.run()
    assert of.counted("txns", "t") == 2
    assert of.counted("lock_rpcs") >= 1
    assert of.locked_keys() == []


def test_a_heartbeat_after_10_s_moves_the_primary_lock_to_the_lock_cf() -> None:
    of = scene(tikv=IN_MEMORY, cpu={"tidb_statement_ns": 7 * NS_PER_S})
    pause = Statement("think")
    of.begin(script(update(b"a", b"b"), pause, pause))
    leader = of.leader(b"a")

    def look() -> tuple[list[bytes], list[bytes]]:
        return list(leader.locks.map), list(leader.state.mvcc.locks)

    # BEGIN and the first statement take 14 s; the lock is 10 s old at 24 s.
    before = of.at(23_900 * NS_PER_MS, look)
    after = of.at(24_100 * NS_PER_MS, look)
    of.run(30 * NS_PER_S)
    assert before == [([b"a", b"b"], [])]
    assert after == [([b"b"], [b"a"])]
    assert of.counted("proposals", "heartbeat") == 1
    assert leader.state.mvcc.locks[b"a"].kind == PESSIMISTIC
    assert leader.state.mvcc.locks[b"a"].ttl_ms > 20_000 + 9_000
    of.run(60 * NS_PER_S)
    assert of.counted("txns", "t") == 1
    assert of.locked_keys() == []


def test_a_short_transaction_sends_no_heartbeat() -> None:
    of = scene()
    of.begin(script(update(b"a")))
    of.run(60 * NS_PER_S)
    assert of.counted("proposals", "heartbeat") == 0


def test_a_read_passes_pessimistic_locks_and_stops_at_prewritten_ones() -> None:
    of = scene()
    writer, reader = 10 << 18, 20 << 18
    of.lock(b"a", writer)
    free = of.send(Kind.GET, b"a", reader, NS_PER_MS)
    prewrite = of.prewrite(b"a", writer, 2 * NS_PER_MS)
    blocked = of.send(Kind.GET, b"a", reader, 10 * NS_PER_MS)
    scanned = of.send(Kind.COP, b"a", reader, 10 * NS_PER_MS, keys=(b"", b"b"))
    earlier = of.send(Kind.GET, b"a", writer - 1, 10 * NS_PER_MS)
    of.send(Kind.COMMIT, b"a", writer, 20 * NS_PER_MS, commit_ts=15 << 18)
    done = of.send(Kind.GET, b"a", reader, 30 * NS_PER_MS)
    of.run()
    assert isinstance(prewrite.result, Prewritten)
    assert free.result is earlier.result is done.result is None
    assert isinstance(blocked.result, KeyIsLocked)
    assert isinstance(scanned.result, KeyIsLocked)


def test_an_async_commit_blocks_later_reads_before_its_prewrite_is_applied() -> None:
    of = scene()
    writer = 10 << 18
    of.lock(b"a", writer)
    prewrite = of.prewrite(b"a", writer, NS_PER_MS, use_async_commit=True, secondaries=())
    later = of.send(Kind.GET, b"a", 20 << 18, NS_PER_MS + NS_PER_MS // 2)
    of.run()
    assert later.executed_ns < prewrite.applied_ns
    assert isinstance(later.result, KeyIsLocked)


def test_a_read_blocked_by_a_prewrite_pushes_its_commit_and_goes_on() -> None:
    of = scene(TWO_PHASES)
    read = Statement("select", (Read(ReadKind.GET, (b"a",), 1),))
    of.lock(b"a", 1)
    of.prewrite(b"a", 1, NS_PER_MS, lock_ttl_ms=20_000, min_commit_ts=2)
    of.begin(script(read, name="reader"), 10 * NS_PER_MS)
    of.run(100 * NS_PER_MS)
    assert of.counted("txns", "reader") == 1
    assert of.counted("proposals", "heartbeat") == 1
    leader = of.leader(b"a")
    assert leader.state.mvcc.locks[b"a"].min_commit_ts > 10 << 18


def test_a_read_does_not_roll_back_a_transaction_that_has_yet_to_prewrite_its_primary() -> None:
    # tikv/client-go lock_resolver.go (getTxnStatusFromLock): only once the lock has expired.
    of = scene(TWO_PHASES)
    read = Statement("select", (Read(ReadKind.GET, (b"a",), 1),))
    writer = of.cluster.tso.begin(0)
    optimistic = {"primary": b"y", "pessimistic": False, "for_update_ts": 0}
    of.prewrite(b"a", writer, 0, lock_ttl_ms=3_000, **optimistic)
    of.begin(script(read, name="reader"), 10 * NS_PER_MS)
    late = of.prewrite(b"y", writer, 100 * NS_PER_MS, **optimistic)
    of.run(200 * NS_PER_MS)
    assert isinstance(late.result, Prewritten)


def test_a_statement_takes_a_round_trip_and_its_cpu() -> None:
    of = scene()
    of.begin(script(Statement("ping"), Statement("ping")))
    of.run()
    # BEGIN, two statements, COMMIT; one timestamp.
    expected_ns = 4 * (2 * ONE_WAY_NS + STATEMENT_NS) + 2 * ONE_WAY_NS
    assert of.recorder.series("txn_latency", "t").max == pytest.approx(expected_ns, abs=20)


@pytest.mark.parametrize("autocommit", [False, True])
def test_a_computed_commit_ts_is_later_than_every_commit_before_an_explicit_commit(
    autocommit: bool,
) -> None:
    # tikv/client-go 2pc.go (needLinearizability): one more timestamp, for BEGIN ... COMMIT only.
    of = scene()
    of.begin(script(point_update(b"a"), autocommit=autocommit))
    pd = of.cluster.network.links()["tidb-0", "pd"]
    of.run()
    assert pd.messages == (1 if autocommit else 2)
