"""What a member's work costs in CPU; means, which every job varies by its own draw."""

from sim.distributions import Sampler
from sim.scenario.schema.etcd import EtcdCosts


class Priced:
    """The costs of one process, drawn."""

    def __init__(self, means: EtcdCosts, draw: Sampler) -> None:
        self.means = means
        self._draw = draw

    def burst_ns(self, payload_bytes: int, requests: int = 0, request_ns: int = 0) -> int:
        """Returns the CPU of one read from, or write to, a connection.

        It may carry requests or answers: a request's cost falls half on its way in, half on its way
        out.
        """
        means = self.means
        mean = means.burst_ns + requests * request_ns / 2 + payload_bytes * means.byte_ns
        return self._draw.scaled(mean)

    def round_ns(self, entries: int, payload_bytes: int) -> int:
        """Returns the CPU of one turn of the raft loop that saves ``entries``."""
        means = self.means
        mean = means.round_ns + entries * means.entry_ns / 2 + payload_bytes * means.byte_ns
        return self._draw.scaled(mean)

    def sync_ns(self) -> int:
        """Returns the CPU of one write and fdatasync."""
        return self._draw.scaled(self.means.sync_ns)

    def apply_ns(self, entries: int, payload_bytes: int) -> int:
        """Returns the CPU of applying entries."""
        means = self.means
        return self._draw.scaled(entries * means.entry_ns / 2 + payload_bytes * means.byte_ns)

    def backend_ns(self) -> int:
        """Returns the CPU of one commit of the backend."""
        return self._draw.scaled(self.means.backend_commit_ns)
