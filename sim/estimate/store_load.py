"""What one store has to do at a rate of transactions: rates, times, busy servers."""

from __future__ import annotations

from dataclasses import dataclass, field

from sim.estimate.moments import Time
from sim.estimate.poller_chain import PollerFigures
from sim.estimate.region_activity import Sharing
from sim.units import NS_PER_S


@dataclass(slots=True)
class StoreLoad:
    """The figures of one store; times in ns, rates per second."""

    txn_per_s: float = 0.0
    lock_share: float = 1.0
    """Share of the lock requests that are proposed."""
    retries: float = 0.0
    """Lock requests sent again after a wait for another transaction, per transaction."""
    requests_per_s: float = 0.0
    commands_per_s: float = 0.0
    """Commands that this store's leaders propose."""
    sharing: Sharing = field(default_factory=Sharing)
    heartbeats_per_s: float = 0.0
    messages_per_s: float = 0.0
    slowness: float = 1.0
    message_ns: float = 0.0
    write_ns: float = 0.0
    """One append + fsync of the log."""
    log_wait: Time = field(default_factory=lambda: Time(0.0))
    """From the end of a round's CPU until its entries are durable."""
    fsyncs_per_s: float = 0.0
    entries_per_s: float = 0.0
    """Logged here, as leader and as follower."""
    pollers: PollerFigures = field(default_factory=lambda: PollerFigures(0, 0, 0, 0, 0))
    apply_ns: float = 0.0
    """CPU of applying one command."""
    apply_wait_ns: float = 0.0
    busy: dict[str, float] = field(default_factory=dict)
    """Servers busy, by station."""
    servers: dict[str, int] = field(default_factory=dict)

    @property
    def messages_per_round(self) -> float:
        """Messages that a poller handles before it looks at the log."""
        rounds = self.pollers.rounds * NS_PER_S
        return max(1.0, self.messages_per_s / rounds) if rounds else 1.0

    @property
    def poller_wait_ns(self) -> float:
        """How long a message waits until a poller takes it."""
        return (
            self.pollers.waiting / (self.messages_per_s / NS_PER_S) if self.messages_per_s else 0.0
        )

    @property
    def poller_cpu(self) -> float:
        """Pollers' worth of CPU that messages ask for."""
        return self.messages_per_s * self.message_ns / NS_PER_S

    def round_ns(self) -> float:
        """How long a round takes."""
        rounds = self.pollers.rounds
        return (self.pollers.handling + self.pollers.in_write) / rounds if rounds else 0.0
