"""What etcd allocates is what was counted: bytes a put, on three members and a client."""

from __future__ import annotations

import pytest

from sim.etcd.allocations import kept, of_client, of_requests, of_round

PAYLOAD = {128: 144, 1024: 1040}
"""Key and value."""


@pytest.mark.parametrize(
    ("value", "fsyncs_per_put", "leader", "follower"),
    [
        (128, 0.98, 14_627, 7_420),
        (128, 0.66, 13_831, 6_650),
        (128, 0.19, 12_386, 5_720),
        (128, 0.055, 11_834, 5_233),
        (1024, 0.215, 18_358, 9_790),
        (1024, 0.92, 20_746, 11_640),
    ],
)
def test_members_allocate_what_was_counted(
    value: int, fsyncs_per_put: float, leader: int, follower: int
) -> None:
    puts = 1000
    rounds = round(puts * fsyncs_per_put)
    one = of_round(1, 0)
    payload = puts * PAYLOAD[value]
    # One round with all entries, and what the other rounds add.
    a_round = 2 * one - of_round(2, 0)
    on_each = of_round(puts, payload) + (rounds - 1) * a_round
    assert on_each / puts == pytest.approx(follower, rel=0.03)
    assert (on_each + of_requests(puts, payload)) / puts == pytest.approx(leader, rel=0.05)


def test_clients_allocate_and_members_keep_what_was_counted() -> None:
    assert of_client(PAYLOAD[128]) == pytest.approx(7_400, rel=0.03)
    assert of_client(PAYLOAD[1024]) == pytest.approx(9_490, rel=0.03)
    assert kept(1, PAYLOAD[128]) == pytest.approx(300, rel=0.03)
    assert kept(1, PAYLOAD[1024]) == pytest.approx(1_413, rel=0.03)


def test_a_round_without_entries_allocates_nothing() -> None:
    assert of_round(0, 0) == 0
