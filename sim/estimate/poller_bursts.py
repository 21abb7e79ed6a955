"""How messages come to a store's pollers together, and what that does to their rounds."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, Final

from sim.units import NS_PER_S

if TYPE_CHECKING:
    from sim.estimate.store_load import StoreLoad

_STEPS: Final = 12


def taken_singly(load: StoreLoad, pollers: int, burst: float) -> float:
    """Returns how many times more writes there are than the chain says, for lack of large bursts.

    The chain has bursts of any size with the given mean (geometric). Where all pollers are idle it
    lets each of them take one message, and the last one what is left: of a burst's messages
    1 - (1 - 1 / burst)^pollers rounds come. A transaction's bursts are as large as the mean, so
    there each message has its own round.
    """
    busy = min(1.0, (load.pollers.handling + load.pollers.in_write) / pollers)
    all_idle: float = (1 - busy) ** pollers
    rounds: float = 1 - (1 - 1 / burst) ** pollers
    return 1 + all_idle * (1 / rounds - 1)


def woken_together(pollers: int, busy: float, burst: float) -> float:
    """Returns how many pollers a burst wakes that finds one idle; their rounds end together.

    A second one has to be idle as well, and the burst to have a second message.
    """
    idle = max(0.0, 1 - busy / pollers)
    one = 1 - (1 - idle) ** pollers
    two = one - pollers * idle * (1 - idle) ** (pollers - 1)
    return 1 + (1 - 1 / burst) * two / one if one else 1.0


def ends_early(pollers: int, known: StoreLoad, burst: float) -> float:
    """Returns how likely a message ends its poller's round while others have messages left.

    A poller takes all that waits, and keeps it. At the end of such a batch it goes on only if
    something has come since anybody took last. So, while all pollers are busy: batches end at the
    rate of messages over their size, their size is what comes between two takings, and something
    has come with the odds of bursts against takings.
    """
    arrivals = known.messages_per_s / NS_PER_S
    handling = pollers - known.pollers.in_write
    if pollers < 2 or not arrivals or handling <= 0:
        return 0.0
    batch = burst
    nothing = 1.0
    for _ in range(_STEPS):
        takings = handling / (batch * known.message_ns) + known.pollers.rounds
        nothing = takings / (takings + arrivals / burst)
        batch = (batch + max(1.0, arrivals / takings / (1 - nothing))) / 2
    return nothing / batch


def burst_size(gathered: float, followers: int, commands: float, clump: float) -> float:
    """Returns how many messages arrive together.

    Commands of one transaction come to a store in clumps. What a round sends to a store leaves at
    once: its commands become appends to each follower, its appends become answers.

    Args:
        gathered: messages of a round.
        followers: of a region.
        commands: share of the messages.
        clump: commands that come together.
    """
    proposed = gathered * commands / clump
    if not proposed:
        return 1.0
    arrivals = proposed + 2 * followers * (1 - exp(-proposed))
    return max(1.0, gathered / arrivals)
