"""The nodes' network ports: requests and answers, Raft's messages, and what waits to be sent.

A node sends through one port, one message at a time (``sim.hardware.network``).
"""

from dataclasses import dataclass
from math import sqrt

from sim.client.tidb import TSO_BYTES
from sim.estimate.footprint import Footprint
from sim.estimate.station_load import StationLoad
from sim.scenario.resolved import Scenario
from sim.units import NS_PER_S


@dataclass(slots=True)
class Traffic:
    """What one node sends: messages of several sizes."""

    bytes_per_s: float
    """Its port's, at most."""
    messages: float = 0.0
    sent_bytes: float = 0.0
    squared_bytes: float = 0.0
    """Squares of the messages' sizes, summed over them."""

    def add(self, messages: float, all_bytes: float) -> None:
        """Adds messages of one size, with the bytes of all of them."""
        if messages:
            self.messages += messages
            self.sent_bytes += all_bytes
            self.squared_bytes += all_bytes**2 / messages

    def sending_ns(self, size_bytes: float) -> float:
        """Returns how long a message is on its way through the port."""
        return size_bytes / self.bytes_per_s * NS_PER_S

    def port(self, per_s: float = 1.0) -> StationLoad:
        """Returns the port that sends all this so many times a second."""
        port = StationLoad(1, per_s * self.messages, per_s * self.sent_bytes / self.bytes_per_s)
        if self.sent_bytes:
            varies = self.squared_bytes * self.messages / self.sent_bytes**2 - 1
            port.cv = sqrt(max(0.0, varies))
        port.queue = port.jobs * port.wait_ns / NS_PER_S
        return port


def tidb_traffic(scenario: Scenario, footprint: Footprint) -> Traffic:
    """Returns what a TiDB node sends for its part of one transaction: requests, and to PD."""
    traffic = Traffic(scenario.hardware.network.bandwidth_bytes_per_s)
    of_one = 1 / scenario.cluster.tidb_nodes
    for each in footprint.requests.values():
        traffic.add(of_one * each.count, of_one * each.request_bytes)
    traffic.add(of_one * footprint.timestamps, of_one * footprint.timestamps * TSO_BYTES)
    return traffic
