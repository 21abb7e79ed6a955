"""What is known of one store at a rate of transactions."""

from dataclasses import dataclass, field

from sim.estimate.disk_demand import DiskLoad
from sim.estimate.pollers import PollerFigures
from sim.estimate.station_load import StationLoad
from sim.fact_names import LOG_WRITER
from sim.units import NS_PER_S


@dataclass(slots=True)
class StoreLoad:
    """The figures of one store; times in ns, rates per second."""

    txn_per_s: float
    write_ns: float
    """One append + fsync of the log."""
    disk: DiskLoad
    step: float = 1.0
    """How far figures move towards what follows from them, on the way to their fixed point."""
    slowness: float = 1.0
    """By which threads that share cores slow each other down."""
    hop_ns: float = 0.0
    """From a thread's being woken until it runs."""
    entries_per_command: float = 1.0
    applied_ns: float = 0.0
    """Of a command at an apply thread, its wait for it and for its turn in RocksDB included."""
    hottest_applies: float = 0.0
    """Share of the time in which the hottest region is applied, by one thread at a time."""
    applied_together: float = 1.0
    """Commands of a write to RocksDB."""
    visits_per_message: float = 1.0
    woken: float = 1.0
    """Share of the pollers' rounds whose thread has to be woken."""
    met: float = 0.0
    """Share of the messages whose peer is in a round."""
    message_ns: float = 0.0
    messages_per_s: float = 0.0
    carried_per_s: float = 0.0
    """Messages that come from other stores."""
    heartbeats_per_s: float = 0.0
    """Rounds of all leaders of the cluster."""
    ticks_per_s: float = 0.0
    """Of all replicas of the cluster."""
    results_per_command: float = 0.0
    """How often a poller hears that it has been applied, over all replicas."""
    applying_s: float = 0.0
    """From a command's commit until it is applied."""
    entries_per_s: float = 0.0
    """Logged here, as leader and as follower."""
    led_per_s: float = 0.0
    """Those of them that are proposed here."""
    beats_per_s: float = 0.0
    """Heartbeats and their answers that a store sends, and as many that it gets."""
    append_sent_ns: float = 0.0
    """Of an append to a follower, on its way through the port."""
    pollers: PollerFigures = field(default_factory=PollerFigures)
    """Per ns."""
    opening: float = 1.0
    """Share of the requests that come in a message of their own."""
    grpc_used: float = 0.0
    """Share of its time in which the busiest gRPC thread works."""
    grpc_ns: float = 0.0
    """Of a message at its gRPC thread, the wait for it included."""
    stations: dict[str, StationLoad] = field(default_factory=dict)
    disks_asked: dict[str, float] = field(default_factory=dict)
    """Share of each disk's budget that is asked for however few the writes of the log are."""

    @property
    def on_the_way(self) -> tuple[float, ...]:
        """Figures that others follow from, and that stand still only in the end."""
        return self.write_ns, self.slowness, self.entries_per_command, self.woken

    @property
    def fsyncs_per_s(self) -> float:
        """Writes of the log."""
        return self.pollers.fsyncs * NS_PER_S

    @property
    def mail_wait_ns(self) -> float:
        """How long a message waits for a poller."""
        return (1 - self.met) * self.pollers.wait + self.met * self.pollers.left

    @property
    def pollers_asked(self) -> float:
        """Pollers' worth of CPU that messages ask for."""
        return self.messages_per_s * self.message_ns / NS_PER_S

    @property
    def used(self) -> float:
        """Share of what it can do that the busiest station is asked for; above 1: it cannot.

        That the log and its disk are busy all the time is no sign: they can do more at once.
        """
        busy = {name: each.busy / each.servers for name, each in self.stations.items()}
        return max(
            self.grpc_used,
            self.hottest_applies,
            *(busy | self.disks_asked | {LOG_WRITER: 0.0}).values(),
        )
