"""What reads and prewrites do that meet a lock: whom they ask, and how long they wait.

Source of the cases: tikv/client-go v2.0.0 txnkv/txnlock/lock_resolver.go, integration_tests/
lock_test.go (TestResolveLocksForRead, TestNewLockZeroTTL).
"""

from __future__ import annotations

from sim.protocol.mvcc import PUT
from sim.protocol.percolator import Mutation
from sim.protocol.timestamp import compose_ts
from sim.storage.request import Kind, KvRequest
from sim.units import NS_PER_MS, NS_PER_S
from sim.workload.statement import Read, ReadKind, Statement
from tests.client.scripted_stores import ScriptedStores
from tests.scenes import IN_MEMORY, script, update

HOLDER = compose_ts(1)
"""Begun at 1 ms."""
PRIMARY, FIRST, SECOND = b"p", b"s1", b"s2"
BEGIN_NS = 100 * NS_PER_MS


def stores(**tidb: object) -> ScriptedStores:
    return ScriptedStores(tikv=IN_MEMORY, tidb=tidb)


def prewritten(of: ScriptedStores, *keys: bytes, ttl_ms: int = 20_000, **fields: object) -> None:
    """Lets the holder prewrite keys, by default optimistically."""
    fields = {"primary": PRIMARY, "for_update_ts": 0} | fields
    for key in keys:
        of.scene.prewrite(key, HOLDER, 2 * NS_PER_MS, lock_ttl_ms=ttl_ms, **fields)


def committed(of: ScriptedStores, key: bytes) -> None:
    of.scene.send(Kind.COMMIT, key, HOLDER, 50 * NS_PER_MS, commit_ts=compose_ts(50))


def select(*keys: bytes) -> Statement:
    return Statement("select", tuple(Read(ReadKind.GET, (key,), 1) for key in keys))


class Reading:
    """What a transaction that reads keys sends, and when it arrives, in ms since it began.

    A read that is sent again is the same request, with what it may pass added.
    """

    def __init__(self, of: ScriptedStores, *keys: bytes) -> None:
        of.scene.begin(script(select(*keys)), BEGIN_NS)
        of.scene.run(NS_PER_S)
        seen = [each for each in of.seen if each[0] > BEGIN_NS]
        self.kinds = [request.kind for _, _, request in seen]
        self.requests = [request for _, _, request in seen]
        self._at_ms = [(at_ns - BEGIN_NS) / NS_PER_MS for at_ns, _, _ in seen]

    def at_ms(self, kind: Kind) -> list[float]:
        """Returns when the requests of a kind arrived."""
        pairs = zip(self.kinds, self._at_ms, strict=True)
        return [at_ms for each, at_ms in pairs if each is kind]

    def one(self, kind: Kind) -> KvRequest:
        """Returns the only request of a kind, sent once or more."""
        (request,) = {request for request in self.requests if request.kind is kind}
        return request


def test_a_read_looks_through_what_is_committed_and_does_not_wait_for_its_resolution() -> None:
    of = stores()
    prewritten(of, PRIMARY, FIRST)
    committed(of, PRIMARY)
    seen = Reading(of, FIRST)
    assert seen.kinds[:2] == [Kind.GET, Kind.CHECK_TXN_STATUS]
    assert set(seen.kinds[2:]) == {Kind.RESOLVE_LOCK, Kind.GET}
    assert seen.at_ms(Kind.GET)[1:] == seen.at_ms(Kind.RESOLVE_LOCK)
    read = seen.one(Kind.GET)
    assert (read.access, read.bypass) == ((HOLDER,), ())
    assert read.done_ns < seen.one(Kind.RESOLVE_LOCK).done_ns
    assert of.scene.locked_keys() == []
    assert of.scene.violations() == []


def test_a_read_ignores_what_is_rolled_back() -> None:
    of = stores()
    prewritten(of, PRIMARY, FIRST, ttl_ms=20)
    read = Reading(of, FIRST).one(Kind.GET)
    assert (read.access, read.bypass) == ((), (HOLDER,))
    assert of.scene.locked_keys() == []
    assert of.scene.violations() == []


def test_how_a_transaction_ended_is_asked_once() -> None:
    of = stores()
    prewritten(of, PRIMARY, FIRST, SECOND)
    committed(of, PRIMARY)
    asked = Reading(of, FIRST, SECOND).kinds
    assert asked.count(Kind.CHECK_TXN_STATUS) == 1
    assert asked.count(Kind.RESOLVE_LOCK) == 2


def test_a_read_pushes_the_commit_of_a_living_transaction_and_goes_on() -> None:
    of = stores()
    prewritten(of, PRIMARY)
    seen = Reading(of, PRIMARY)
    assert seen.kinds == [Kind.GET, Kind.CHECK_TXN_STATUS, Kind.GET]
    assert seen.one(Kind.GET).bypass == (HOLDER,)
    assert seen.at_ms(Kind.GET)[1] < 5


def test_a_read_backs_off_from_an_asynchronous_commit_until_it_has_ended() -> None:
    of = stores()
    prewritten(of, PRIMARY, use_async_commit=True, secondaries=())
    of.scene.send(Kind.COMMIT, PRIMARY, HOLDER, 130 * NS_PER_MS, commit_ts=compose_ts(200))
    first, second, third, fourth = Reading(of, PRIMARY).at_ms(Kind.GET)
    assert 5 < second - first < 12
    assert 10 < third - second < 22
    assert 20 < fourth - third < 42


def test_a_backoff_is_no_longer_than_the_lock_lives() -> None:
    of = stores()
    # Without the limit the third wait would be of 20 to 40 ms.
    prewritten(of, PRIMARY, use_async_commit=True, secondaries=(), ttl_ms=133)
    assert Reading(of, PRIMARY).at_ms(Kind.GET)[-1] < 37
    assert of.scene.locked_keys() == []


def test_a_lock_that_came_before_its_primary_is_asked_for_until_that_is_there() -> None:
    of = stores()
    prewritten(of, FIRST)
    of.scene.prewrite(PRIMARY, HOLDER, BEGIN_NS + 8 * NS_PER_MS, lock_ttl_ms=20_000)
    first, second, third = Reading(of, FIRST).at_ms(Kind.CHECK_TXN_STATUS)
    assert 2 < second - first < 4
    assert 4 < third - second < 6


def insert(key: bytes) -> Statement:
    """Returns a statement that writes a key without locking it."""
    return Statement("insert", (), (), (Mutation(key, PUT, 10, pessimistic_check=False),))


def test_a_pessimistic_prewrite_does_not_wait_for_the_lock_in_its_way() -> None:
    of = stores(async_commit=False, one_pc=False)
    prewritten(of, PRIMARY)
    of.scene.begin(script(update(b"a"), insert(PRIMARY)), BEGIN_NS)
    of.scene.run(BEGIN_NS + 10 * NS_PER_MS)
    assert of.scene.counted("txns", "t") == 1
    assert of.scene.locked_keys() == []


def test_an_optimistic_prewrite_waits_for_an_older_transaction() -> None:
    of = stores(async_commit=False, one_pc=False)
    prewritten(of, PRIMARY)
    of.scene.begin(script(update(PRIMARY), autocommit=True), BEGIN_NS)
    of.scene.run(NS_PER_S)
    _, first, second, third = (at_ns for at_ns, _ in of.arrivals(Kind.PREWRITE)[:4])
    assert 50 * NS_PER_MS < second - first < 103 * NS_PER_MS
    assert 100 * NS_PER_MS < third - second < 203 * NS_PER_MS


def test_an_optimistic_prewrite_gives_way_to_a_younger_transaction_at_once() -> None:
    of = stores()
    of.scene.prewrite(PRIMARY, compose_ts(200), 2 * NS_PER_MS, for_update_ts=0, lock_ttl_ms=20_000)
    of.scene.begin(script(update(PRIMARY), autocommit=True), BEGIN_NS)
    of.scene.run(BEGIN_NS + 10 * NS_PER_MS)
    assert len(of.requests(Kind.PREWRITE)) == 2
    assert len(of.requests(Kind.LOCK)) == 1
