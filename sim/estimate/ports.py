"""The nodes' network ports: requests and answers, Raft's messages, and what waits to be sent.

A node sends through one port, one message at a time (``sim.hardware.network``).
"""

from dataclasses import dataclass
from math import inf, sqrt

from sim.client.tidb import TSO_BYTES
from sim.estimate.footprint import Footprint
from sim.estimate.pollers import MOST_USED
from sim.queueing.formulas import mean_wait
from sim.scenario.resolved import Scenario
from sim.units import NS_PER_S


@dataclass(slots=True)
class PortLoad:
    """What one node sends a second; a server of messages of several sizes."""

    bytes_per_s: float = inf
    """At most."""
    messages: float = 0.0
    sent_bytes: float = 0.0
    squared_bytes: float = 0.0
    """Squares of the messages' sizes, summed over them."""

    def add(self, per_s: float, all_bytes: float) -> None:
        """Adds messages of one size, with the bytes of all of them."""
        if per_s:
            self.messages += per_s
            self.sent_bytes += all_bytes
            self.squared_bytes += all_bytes**2 / per_s

    def times(self, rate: float) -> "PortLoad":
        """Returns so many times as much."""
        sent, squared = rate * self.sent_bytes, rate * self.squared_bytes
        return PortLoad(self.bytes_per_s, rate * self.messages, sent, squared)

    @property
    def busy(self) -> float:
        """Share of the time; above 1: it cannot send so much."""
        return self.sent_bytes / self.bytes_per_s

    def sending_ns(self, size_bytes: float) -> float:
        """Returns how long a message is on its way through the port."""
        return size_bytes / self.bytes_per_s * NS_PER_S

    @property
    def service_ns(self) -> float:
        """Mean time of one message."""
        return self.sending_ns(self.sent_bytes / self.messages) if self.messages else 0.0

    @property
    def wait_ns(self) -> float:
        """How long a message waits for those before it (M/G/1)."""
        if not self.messages:
            return 0.0
        varies = self.squared_bytes * self.messages / self.sent_bytes**2 - 1
        within = min(self.busy, MOST_USED)
        return mean_wait(1, within / self.service_ns, self.service_ns, sqrt(max(0.0, varies)))

    @property
    def queue(self) -> float:
        """Messages that wait."""
        return self.messages * self.wait_ns / NS_PER_S


def tidb_port(scenario: Scenario, footprint: Footprint) -> PortLoad:
    """Returns what a TiDB node sends if one transaction a second begins: requests, and to PD."""
    port = PortLoad(scenario.hardware.network.bandwidth_bytes_per_s)
    of_one = 1 / scenario.cluster.tidb_nodes
    for each in footprint.requests.values():
        port.add(of_one * each.count, of_one * each.request_bytes)
    port.add(of_one * footprint.timestamps, of_one * footprint.timestamps * TSO_BYTES)
    return port
