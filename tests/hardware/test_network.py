"""Links: a port's bandwidth, half a round trip, and order where TCP gives it."""

import pytest

from sim.distributions import Constant, Lognormal
from sim.hardware import Network, NetworkSpec
from sim.streams import Streams
from sim.units import NS_PER_US

SPEC = NetworkSpec(
    same_zone=Constant(200 * NS_PER_US),
    cross_zone=Constant(1000 * NS_PER_US),
    bandwidth_bytes_per_s=1_000_000_000,
)
ZONES = {"tidb-1": "a", "store-1": "a", "store-2": "b"}


def network(spec: NetworkSpec = SPEC) -> Network:
    return Network(spec, Streams(1, 0), ZONES)


def test_a_message_takes_half_a_round_trip_and_its_transmission() -> None:
    net = network()
    assert net.link("tidb-1", "store-1").send(10, 1000) == 10 + 1000 + 100 * NS_PER_US
    assert net.link("store-1", "store-2").send(10, 1000) == 10 + 1000 + 500 * NS_PER_US


def test_messages_of_a_node_leave_one_after_the_other_whoever_they_are_for() -> None:
    net = network()
    net.link("tidb-1", "store-1").send(0, 50_000)
    assert net.link("tidb-1", "store-2").send(0, 1000) == 51_000 + 500 * NS_PER_US
    assert net.link("store-1", "tidb-1").send(0, 1000) == 1000 + 100 * NS_PER_US


def test_ordered_messages_never_overtake() -> None:
    spec = NetworkSpec(Lognormal(150_000, 400_000), None, 1_000_000_000)
    link = network(spec).link("tidb-1", "store-1")
    free = [link.send(t * 1000, 10) for t in range(2000)]
    ordered = [link.send_ordered(t * 1000, 10) for t in range(2000, 4000)]
    assert free != sorted(free)
    assert ordered == sorted(ordered)
    assert (link.messages, link.bytes) == (4000, 40_000)


def test_each_link_is_made_once() -> None:
    net = network()
    assert net.link("tidb-1", "store-1") is net.link("tidb-1", "store-1")


def test_links_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="no link to itself"):
        network().link("store-1", "store-1")
    one_zone = network(NetworkSpec(Constant(1), None, 1))
    with pytest.raises(ValueError, match="cross_zone"):
        one_zone.link("store-1", "store-2")


def test_a_port_has_sent_what_has_left_it_by_now() -> None:
    net = network()
    net.link("store-1", "store-2").send(0, 50_000)
    net.link("store-1", "tidb-1").send(0, 10_000)
    assert net.sending_until(60_000, {"store-1"}) == 60_000
    assert net.sending_until(20_000, {"store-1"}) == 20_000
    assert net.sending_until(90_000, {"store-1", "store-2"}) == 60_000
    assert net.sending_until(90_000, {"tidb-1"}) == 0
