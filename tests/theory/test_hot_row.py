"""One hot row is a single server: who holds its lock is in service, everybody else waits.

With constant costs the service time is a sum that can be written down, so that saturated
throughput is 1 / hold time to the microsecond, and Poisson arrivals wait as in M/D/1.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from analysis.statistics.intervals import mean_interval
from sim.client.client_stats import ClientStats
from sim.engine import Wait
from sim.storage.request import KvRequest
from sim.streams import Streams
from sim.units import NS_PER_S, NS_PER_US
from tests.scenes import (
    FSYNC_NS,
    IN_MEMORY,
    ONE_WAY_NS,
    STATEMENT_NS,
    Scene,
    constant_scenario,
    script,
    update,
)

REQUEST_NS = NS_PER_US
"""Short, so that those who come to wait do not get in the way at the latch."""

HOLD_NS = (
    REQUEST_NS + ONE_WAY_NS  # the lock is granted, and the client learns of it
    + 2 * ONE_WAY_NS + STATEMENT_NS  # COMMIT
    + 2 * ONE_WAY_NS  # a timestamp, for linearizability
    + ONE_WAY_NS + REQUEST_NS + 10 * NS_PER_US  # prewrite in one phase, proposed
    + 2 * ONE_WAY_NS + FSYNC_NS + 20 * NS_PER_US  # a follower has it
    + 20 * NS_PER_US  # applied
)  # fmt: skip

WRITE_NS = 10 * NS_PER_US + 2 * ONE_WAY_NS + FSYNC_NS + 20 * NS_PER_US + 20 * NS_PER_US
"""The part of it in which the release is on its way through Raft."""

HAND_OVER_NS = ONE_WAY_NS + STATEMENT_NS + 2 * ONE_WAY_NS + ONE_WAY_NS
"""Without fair locking the woken client is told, plans again, gets a timestamp, and comes back: all
that while the release is being written, whose latch it then waits for."""


def hot_row(*, fair: bool) -> Scene:
    return Scene(
        constant_scenario(
            tikv=IN_MEMORY,
            # With constant costs the same client may lose each race for the latch, by 2 us.
            tidb={"fair_locking": fair, "max_retry_count": 1_000_000},
            cpu={"tikv_command_ns": REQUEST_NS},
        )
    )


def client(scene: Scene) -> Generator[Wait, Any, None]:
    while True:
        yield from scene.session.run(script(update(b"k")), scene.env.now_ns)


@pytest.mark.parametrize("fair", [True, False])
@pytest.mark.parametrize("clients", [5, 20])
def test_saturated_throughput_is_one_over_the_hold_time(clients: int, fair: bool) -> None:
    scene = hot_row(fair=fair)
    for _ in range(clients):
        scene.env.process(client(scene))
    scene.run(NS_PER_S)
    begun = scene.stats.total_committed()
    scene.run(3 * NS_PER_S)
    served = scene.stats.total_committed() - begun
    service_ns = HOLD_NS if fair else HOLD_NS + max(0, HAND_OVER_NS - WRITE_NS)
    assert served == pytest.approx(2 * NS_PER_S / service_ns, rel=0.002)
    assert scene.stats.total_aborted() == 0
    # Little's law: one has the lock and one is about to; without fair locking others, who were
    # sent back to try again, are on their way as well.
    waiting = scene.stats.lock_wait.sum / (3 * NS_PER_S)
    assert (clients - 2.2 if fair else 0) < waiting < clients - 1


@pytest.mark.parametrize("load", [0.3, 0.7])
def test_poisson_arrivals_wait_as_in_m_d_1(load: float, monkeypatch: pytest.MonkeyPatch) -> None:
    # Some wait for the lock, and some for the latch, behind the holder's prewrite.
    waits: list[int] = []

    def note(_: ClientStats, request: KvRequest) -> None:
        waits.append(request.executed_ns - request.arrived_ns - REQUEST_NS)

    monkeypatch.setattr(ClientStats, "lock_replied", note)
    scene = hot_row(fair=True)
    gaps = Streams(7, 0).stream("gaps")
    arrival_ns = 0
    for _ in range(6_000):
        arrival_ns += gaps.exponential(HOLD_NS / load)
        scene.begin(script(update(b"k")), arrival_ns)
    scene.run(arrival_ns + NS_PER_S)
    assert len(waits) == scene.stats.total_committed() == 6_000
    expected_ns = load * HOLD_NS / (2 * (1 - load))
    _, low, high = mean_interval(waits, confidence=0.999)
    assert low <= expected_ns <= high, f"{expected_ns:.0f} outside {low:.0f} to {high:.0f} ns"
    assert high - low < expected_ns
