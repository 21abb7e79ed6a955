"""A network: each node sends through one port, and every pair of nodes has a latency.

A node's messages leave its port one after the other at the port's bandwidth; then each takes half a
drawn round trip, independent of the others. A message of a TCP stream (``send_ordered``) never
overtakes an earlier one of its link. Receivers' ports do not queue.
"""

from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass
from math import floor

from sim.distributions import Distribution, Sampler
from sim.streams import Streams
from sim.units import NS_PER_S


@dataclass(frozen=True, slots=True)
class NetworkSpec:
    """Latencies (round trips, as ping reports them) and bandwidth of a network."""

    same_zone: Distribution
    cross_zone: Distribution | None
    bandwidth_bytes_per_s: int


class Port:
    """A node's outgoing port: one message at a time, first come first served (Lindley).

    It is no station of the engine: a transaction sends 75 messages, and a link only adds up times.
    """

    def __init__(self) -> None:
        self.free_ns = 0
        """When everything sent so far will have left."""


class Link:
    """One direction between two nodes."""

    def __init__(self, port: Port, round_trip: Sampler, bandwidth_bytes_per_s: int) -> None:
        self._port = port
        self._round_trip = round_trip
        self._draws: list[int] = []
        self._ns_per_byte = NS_PER_S / bandwidth_bytes_per_s
        self._last_ns = 0
        self.cut = False
        """Whether nothing gets through; senders check before they send."""
        self.bytes = 0
        """Bytes sent."""
        self.messages = 0
        """Messages sent."""

    def send(self, now_ns: int, size_bytes: int) -> int:
        """Returns when a message sent now will have arrived, in nanoseconds."""
        self.messages += 1
        self.bytes += size_bytes
        draws = self._draws
        if not draws:
            draws.extend(self._round_trip.block())
        port = self._port
        left_ns = port.free_ns
        if now_ns > left_ns:
            left_ns = now_ns
        port.free_ns = left_ns = left_ns + floor(size_bytes * self._ns_per_byte)
        return left_ns + (draws.pop() >> 1)

    def round_trip(self, now_ns: int, size_bytes: int) -> int:
        """Returns when the answer to a message sent now will arrive, in nanoseconds.

        For a receiver that answers at once; both directions are counted on this link.
        """
        self.messages += 2
        self.bytes += 2 * size_bytes
        draws = self._draws
        if not draws:
            draws.extend(self._round_trip.block())
        port = self._port
        left_ns = port.free_ns
        if now_ns > left_ns:
            left_ns = now_ns
        port.free_ns = left_ns = left_ns + floor(size_bytes * self._ns_per_byte)
        return left_ns + draws.pop()

    def send_ordered(self, now_ns: int, size_bytes: int) -> int:
        """As ``send``, but not before an earlier ordered message of this link."""
        self.messages += 1
        self.bytes += size_bytes
        draws = self._draws
        if not draws:
            draws.extend(self._round_trip.block())
        port = self._port
        left_ns = port.free_ns
        if now_ns > left_ns:
            left_ns = now_ns
        port.free_ns = left_ns = left_ns + floor(size_bytes * self._ns_per_byte)
        arrival_ns = left_ns + (draws.pop() >> 1)
        if arrival_ns < self._last_ns:
            return self._last_ns
        self._last_ns = arrival_ns
        return arrival_ns


class Network:
    """The links between nodes, created on demand."""

    def __init__(self, spec: NetworkSpec, streams: Streams, zones: Mapping[str, str]) -> None:
        self._spec = spec
        self._streams = streams
        self._zones = zones
        self._ports = {node: Port() for node in zones}
        self._links: dict[tuple[str, str], Link] = {}

    def link(self, src: str, dst: str) -> Link:
        """Returns the one link from ``src`` to ``dst``.

        Raises:
            ValueError: if both are one node, or are in two zones without a latency between zones.
        """
        link = self._links.get((src, dst))
        if link is None:
            stream = self._streams.stream(f"network/{src}->{dst}")
            round_trip = Sampler(self._round_trip(src, dst), stream)
            link = Link(self._ports[src], round_trip, self._spec.bandwidth_bytes_per_s)
            self._links[src, dst] = link
        return link

    def nodes(self) -> Collection[str]:
        """Returns the names of all nodes."""
        return self._ports.keys()

    def sending_until(self, now_ns: int, nodes: Set[str]) -> int:
        """Returns for how long the ports of some nodes have sent until now, summed over them.

        Half of what a ``round_trip`` adds is the receiver's, which is too little to count.
        """
        sent_bytes = sum(link.bytes for (src, _), link in self._links.items() if src in nodes)
        booked_ns = sum(max(0, self._ports[node].free_ns - now_ns) for node in nodes)
        return sent_bytes * NS_PER_S // self._spec.bandwidth_bytes_per_s - booked_ns

    def links(self) -> Mapping[tuple[str, str], Link]:
        """Returns the links used so far, by (sender, receiver)."""
        return self._links

    def _round_trip(self, src: str, dst: str) -> Distribution:
        if src == dst:
            raise ValueError(f"{src} needs no link to itself; call the receiver directly")
        if self._zones[src] == self._zones[dst]:
            return self._spec.same_zone
        if self._spec.cross_zone is None:
            raise ValueError(f"{src} and {dst} are in two zones; cross_zone must be given")
        return self._spec.cross_zone
