"""Followers begin with the commits that they would not have heard of, were the run not beginning.

Proves: regions have one as often as a Poisson process says (formula), of a size of their table, and
a unit of thousands of regions applies from the beginning what it proposes.
"""

from __future__ import annotations

import math
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from analysis.study.load import load_study
from sim.engine import LeanEnv
from sim.protocol.raft.log import Entry
from sim.protocol.region import Region, RegionId, Route, StoreId
from sim.protocol.write_batch import COMMIT, PREWRITE, WriteBatch
from sim.raftstore.peer import Peer, RaftCommand
from sim.raftstore.probe import RaftstoreProbe
from sim.record.facts import MemorySink
from sim.scenario.schema.tikv import Tikv
from sim.server.unheard_commits import UnheardCommits
from sim.simulation import SimulatedUnit
from sim.streams import Streams
from sim.units import NS_PER_MS, NS_PER_S
from tests.stub_model import QUICKSTART

STORES = (StoreId(1), StoreId(2), StoreId(3))
HEARTBEAT_NS = 2 * NS_PER_S
TIKV = Tikv(raft_heartbeat_ticks=2, raft_base_tick_interval_ns=NS_PER_S)
REGIONS = 3_000


class Regions:
    """Untouched regions of one table, and what was left with those that are touched or heard."""

    def __init__(self, cause: int) -> None:
        self.env = LeanEnv()
        self.untouched = {
            number: Route(Region(RegionId(number), b"t%010d" % 7, b"", STORES), STORES[0])
            for number in range(1, REGIONS + 1)
        }
        self.command = RaftCommand(self.untouched[1].region)
        self.command.batch = WriteBatch(cause)
        self.command.batch.keys = 5
        self.left: Counter[str] = Counter()
        self.unheard = UnheardCommits(self.env, self.untouched, TIKV, Streams(3, 0), self.hear)

    def touch(self, number: int) -> None:
        """Touches a region, for the first time or not."""
        route = self.untouched.pop(number, None)
        if route is not None:
            peers = self._peers()
            self.unheard.touched(route.region, peers)
            self._note("touched", peers)

    def make_all(self) -> None:
        """Makes the replicas of all regions that nobody has touched."""
        for number, route in list(self.untouched.items()):
            del self.untouched[number]
            peers = self._peers()
            self.unheard.made(route.region, peers)
            self._note("made", peers)

    def hear(self, number: int) -> None:
        """Sends a heartbeat to a region that was not touched."""
        route, peers = self.untouched.pop(number), self._peers()
        self.unheard.heard(route.region, peers)
        self._note("heard", peers)

    def _peers(self) -> list[Any]:
        log = SimpleNamespace(entries=[SimpleNamespace(payload=[self.command])])
        state = SimpleNamespace(applied=5, applied_term=6)
        return [
            SimpleNamespace(
                is_leader=number == 0, raft=SimpleNamespace(log=log), state=state, apply_queue=[]
            )
            for number in range(3)
        ]

    def _note(self, how: str, peers: list[Any]) -> None:
        assert not peers[0].apply_queue, "the leader has applied it"
        assert peers[1].apply_queue == [] or peers[1].apply_queue[0].payload[0].batch.keys == 5
        self.left[how] += bool(peers[1].apply_queue) + bool(peers[2].apply_queue)


def touch_at_random(regions: Regions, rate_per_s: float, until_ns: int) -> None:
    draws = Streams(11, 0).stream("touches")
    while regions.env.now_ns < until_ns:
        pause_ns = draws.exponential(NS_PER_S / rate_per_s / REGIONS)
        regions.env.run_until(regions.env.now_ns + pause_ns)
        regions.touch(draws.randint(1, REGIONS))


@pytest.mark.parametrize("rate_per_s", [0.2, 1.0, 5.0])
def test_as_many_regions_have_one_as_were_touched_since_their_last_heartbeat(
    rate_per_s: float,
) -> None:
    regions = Regions(COMMIT)
    touch_at_random(regions, rate_per_s, HEARTBEAT_NS + NS_PER_MS)
    visits = rate_per_s * HEARTBEAT_NS / NS_PER_S
    expected = 1 - (1 - math.exp(-visits)) / visits
    assert regions.left.total() / 2 / REGIONS == pytest.approx(expected, abs=0.03)
    assert min(regions.left["heard"], regions.left["touched"]) > 0


def test_regions_that_are_made_untouched_do_not_count_as_touched() -> None:
    regions, rate_per_s, at_s = Regions(COMMIT), 0.5, 0.4
    touch_at_random(regions, rate_per_s, round(at_s * NS_PER_S))
    untouched = len(regions.untouched)
    regions.make_all()
    # Over first heartbeats at any time, of which those before now have gone by.
    longest = rate_per_s * (HEARTBEAT_NS / NS_PER_S - at_s)
    expected = (longest - 1 + math.exp(-longest)) / (rate_per_s * (HEARTBEAT_NS / NS_PER_S))
    at_first = untouched + regions.left["heard"] / 2
    assert regions.left["made"] / 2 / at_first == pytest.approx(expected, abs=0.03)


def test_a_table_without_commits_has_none_and_nobody_has_after_the_first_heartbeat() -> None:
    none = Regions(PREWRITE)
    touch_at_random(none, 1.0, HEARTBEAT_NS)
    assert not none.left.total()
    late = Regions(COMMIT)
    late.env.run_until(HEARTBEAT_NS)
    touch_at_random(late, 1.0, HEARTBEAT_NS + NS_PER_S)
    assert not late.left.total()


class Applied(RaftstoreProbe):
    """Counts the keys of commits as leaders and as all replicas apply them."""

    def __init__(self) -> None:
        self.by_leaders = self.by_all = 0

    def applied(self, peer: Peer, entry: Entry) -> None:
        """Counts those of an entry."""
        for command in entry.payload:
            batch = command.batch
            if batch is not None and batch.cause == COMMIT:
                self.by_all += batch.keys
                self.by_leaders += batch.keys * peer.is_leader


def share_applied(unheard: float, until_ms: int) -> float:
    """Returns how much of what leaders commit all replicas apply, from 100 ms on.

    Args:
        unheard: of the commits that followers begin with, the probability is multiplied by this.
        until_ms: when the run ends.
    """
    overrides = ["workload.warehouses=2000", "workload.threads=30", "hardware.profile=i3.4xlarge",
                 "run.warmup=100ms", "run.measure=400ms", "run.checks=false"]  # fmt: skip
    study = load_study(QUICKSTART, overrides)
    unit = SimulatedUnit(study.variants["in_memory"], 0, MemorySink())
    unit.cluster._unheard._draws = unit.cluster._unheard._draws / unheard
    unit.env.run_until(100 * NS_PER_MS)
    applied = Applied()
    unit.cluster.probe.add(applied)
    unit.env.run_until(until_ms * NS_PER_MS)
    return applied.by_all / applied.by_leaders / 3


def test_a_unit_of_many_regions_applies_from_the_beginning_what_it_proposes() -> None:
    assert share_applied(1.0, until_ms=500) == pytest.approx(1, abs=0.07)
    assert share_applied(1e-9, until_ms=200) < 0.85, "without them followers have too little to do"


def test_a_region_of_one_replica_has_no_followers_to_leave_a_commit_with() -> None:
    study = load_study(QUICKSTART, ["cluster.replicas=1", "run.warmup=100ms", "run.measure=200ms"])
    unit = SimulatedUnit(study.variants["in_memory"], 0, MemorySink())
    applied = Applied()
    unit.cluster.probe.add(applied)
    unit.env.run_until(300 * NS_PER_MS)
    assert applied.by_all == applied.by_leaders > 0
