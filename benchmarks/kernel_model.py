"""Model M: the yardstick of the engine, said once for both of its implementations.

Three stores keep 600 regions; the leader of a region is store (region mod 3), the others follow.
200 clients at two SQL nodes think, lock 8-16 times, prewrite every touched region at once, commit
the first, answer, and commit the others in the background.

Link (one per ordered pair of nodes): one message at a time, exponential 3 us, then 100 us of way.
Store: a scheduler pool of 8 (exponential 40 us); a log that syncs everything pending at once
(200 us + exponential 200 us + 1 us an entry); one apply thread (exponential 15 us).
Request: link, scheduler, then by mode; a proposal goes to the own log and to both followers' (link,
log, link back) and is applied when two of the three have it. A lock is answered at once and not
proposed (in_memory), when proposed (pipelined) or when applied (sync); all else when applied.

Every station draws from a stream of its own, in the order of its queue, so that an implementation
without events for unobservable moments draws the same numbers. One tick is a picosecond, not a
nanosecond: no two messages then meet at a station in one instant, where an order would be taste.
"""

from dataclasses import dataclass, field
from hashlib import sha1

import numpy as np

from sim.distributions import Exponential, Sampler
from sim.streams import Stream, Streams

TICKS_PER_US = 1_000_000
TICKS_PER_S = 1_000_000_000_000

STORES = 3
QUORUM = 2
SQL_NODES = 2
CLIENTS = 200
GROUPS = 75
REGIONS_PER_GROUP = 8
SCHEDULER_THREADS = 8
MIN_LOCKS = 8
MAX_LOCKS = 16

PROPAGATION = 100 * TICKS_PER_US
TRANSMISSION_MEAN = 3 * TICKS_PER_US
SCHEDULER_MEAN = 40 * TICKS_PER_US
APPLY_MEAN = 15 * TICKS_PER_US
SYNC_LEAST = 200 * TICKS_PER_US
SYNC_MEAN = 200 * TICKS_PER_US
SYNC_PER_ENTRY = TICKS_PER_US
THINK_MEAN = 100_000 * TICKS_PER_US

MODES = ("in_memory", "pipelined", "sync")


class Draws:
    """The random numbers of one run: the same for whoever plays the model."""

    def __init__(self, seed: int) -> None:
        self._streams = Streams(seed, replication=0)

    def times(self, station: str, mean: int) -> Sampler:
        """Returns the exponential times of a station, in ticks."""
        return Sampler(Exponential(mean), self._streams.stream(station))

    def stream(self, name: str) -> Stream:
        """Returns the stream called ``name``."""
        return self._streams.stream(name)

    def choices(self, client: int) -> Stream:
        """Returns the stream from which a client draws its requests."""
        return self._streams.stream(f"client-{client}/choices")


def choose_regions(client: int, choices: Stream) -> list[int]:
    """Draws the regions that the next transaction locks, one a request, repetitions included."""
    first = client % GROUPS * REGIONS_PER_GROUP
    locks = choices.randint(MIN_LOCKS, MAX_LOCKS)
    return [first + choices.randint(0, REGIONS_PER_GROUP - 1) for _ in range(locks)]


def leader_of(region: int) -> int:
    """Returns the store that leads a region."""
    return region % STORES


@dataclass(slots=True)
class Outcome:
    """What a run leaves: every latency in ticks, by client in the order of completion."""

    lock_latencies: list[list[int]] = field(default_factory=lambda: [[] for _ in range(CLIENTS)])
    txn_latencies: list[list[int]] = field(default_factory=lambda: [[] for _ in range(CLIENTS)])
    events: int = 0
    """Queue entries executed."""

    @property
    def transactions(self) -> int:
        """How many transactions were answered."""
        return sum(map(len, self.txn_latencies))

    def digest(self) -> str:
        """Returns the SHA-1 over all latencies; equal digests mean equal runs."""
        result = sha1(usedforsecurity=False)
        for latencies in (*self.lock_latencies, *self.txn_latencies):
            result.update(len(latencies).to_bytes(8, "little"))
            result.update(np.array(latencies, dtype="<i8").tobytes())
        return result.hexdigest()
