"""A raft connection: order is kept, a cut swallows what is sent, a filter loses or delays."""

from collections.abc import Sequence

from sim.distributions import Constant
from sim.engine import Cores, LeanEnv
from sim.hardware.network import Network, NetworkSpec
from sim.streams import Streams
from sim.transport.filters import MessageFilters
from sim.transport.messages import GcPeer, RaftMessage, TransferLeaderRequest
from sim.transport.nodes import store_name
from sim.transport.transport import Outbox, Receive, Transport

HALF_NS = 100
ZONES = {store_name(1): "zone-0", store_name(2): "zone-0", store_name(3): "zone-0"}


class Stage:
    """Store 1 with its connections to 2 and 3; what arrives is written down."""

    def __init__(self) -> None:
        self.env = LeanEnv()
        spec = NetworkSpec(Constant(2 * HALF_NS), None, 1_000_000_000_000)
        self.network = Network(spec, Streams(1, 0), ZONES)
        links = {store: self.network.link(store_name(1), store_name(store)) for store in (2, 3)}
        self.filters = MessageFilters()
        self.transport = Transport(self.env, 1, links, self.filters)
        self.heard: list[tuple[int, int, list[int]]] = []
        for store in links:
            self.transport.connect(store, self.receiver(store), Cores(1))

    def receiver(self, store: int) -> Receive:
        def receive(messages: Sequence[RaftMessage]) -> None:
            regions = [message.region_id for message in messages]
            self.heard.append((self.env.now_ns, store, regions))

        return receive

    def send_at(self, time_ns: int, store: int, region: int) -> None:
        message = TransferLeaderRequest(region, 1, 6)
        self.env.at(time_ns, lambda _: self.transport.send_message(store, message), None)


def test_messages_arrive_in_the_order_in_which_they_were_sent() -> None:
    stage = Stage()
    for time_ns, region in [(1, 10), (1, 11), (50, 12), (400, 13)]:
        stage.send_at(time_ns, 2, region)
    stage.env.run_until(1_000)
    assert [regions for _, _, regions in stage.heard] == [[10], [11], [12], [13]]
    assert [time_ns for time_ns, _, _ in stage.heard] == [101, 101, 150, 500]


def test_a_cut_swallows_what_is_sent_but_not_what_is_under_way() -> None:
    stage = Stage()
    link = stage.network.link(store_name(1), store_name(2))
    stage.send_at(0, 2, 10)
    stage.env.at(50, lambda _: setattr(link, "cut", True), None)
    stage.send_at(60, 2, 11)
    stage.env.at(70, lambda _: setattr(link, "cut", False), None)
    stage.send_at(80, 2, 12)
    stage.env.run_until(1_000)
    assert [regions for _, _, regions in stage.heard] == [[10], [12]]


def test_a_delayed_message_is_overtaken_and_a_dropped_one_lost() -> None:
    stage = Stage()
    stage.filters.delay("TransferLeaderRequest", 500, region=10)
    lost = stage.filters.drop("TransferLeaderRequest", region=11)
    for region in (10, 11, 12):
        stage.send_at(0, 2, region)
    stage.env.run_until(1_000)
    assert stage.heard == [(100, 2, [12]), (600, 2, [10])]
    assert lost.hits == 1


def test_a_dead_process_sends_nothing() -> None:
    stage = Stage()
    stage.transport.mute = True
    stage.send_at(0, 2, 10)
    stage.env.run_until(1_000)
    assert stage.heard == []


def test_an_outbox_sends_one_piece_a_store() -> None:
    stage = Stage()
    outbox = Outbox()
    for store, region in [(2, 1), (3, 2), (2, 3)]:
        outbox.add_message(store, GcPeer(region, 1, 6, 1))
    stage.env.at(0, lambda _: outbox.flush(stage.transport), None)
    stage.env.run_until(1_000)
    assert [(store, regions) for _, store, regions in stage.heard] == [(2, [1, 3]), (3, [2])]
