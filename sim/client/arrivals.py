"""When transactions begin: closed loop (threads) or open loop (a rate).

A closed-loop client begins its next transaction when the last one has ended and its think time is
over; when a run begins, each is somewhere in a think time. An open-loop source begins transactions
whatever the system does. A transaction's latency counts from the moment it was meant to begin, so
that a stall is charged to all that it delays.

Source: Schroeder, Wierman, Harchol-Balter, Open Versus Closed: A Cautionary Tale, NSDI 2006.
"""

from collections.abc import Generator
from typing import Any, Final

from sim.client.session import Session
from sim.distributions import Distribution, Sampler
from sim.engine import LeanEnv, Wait
from sim.streams import Stream, Streams
from sim.units import NS_PER_MS, NS_PER_S
from sim.workload.statement import TransactionSource

_RAMP_NS = 50 * NS_PER_MS
"""Threads start spread over this time. ASSUMED; as load generators open their connections."""

_LAID: Final = 16
"""Times among which a point is chosen; more make no difference."""


def closed_loop(
    env: LeanEnv,
    session: Session,
    workload: TransactionSource,
    client_id: int,
    streams: Streams,
    think_time: Distribution | None,
) -> Generator[Wait, Any, None]:
    """One client thread, for ever."""
    stream = streams.stream(f"client-{client_id}/start")
    yield stream.randint(0, _RAMP_NS)
    think = Sampler(think_time, streams.stream(f"client-{client_id}/think")) if think_time else None
    if think is not None:
        yield residual_ns(think, stream)
    while True:
        yield from session.run(workload.transaction(client_id), env.now_ns)
        if think is not None:
            yield think.draw()


def residual_ns(times: Sampler, stream: Stream) -> int:
    """Returns what is left of a time in which one arrives at random.

    Longer ones are met more often: some are laid end to end, and one point of them is chosen.
    """
    laid = [times.draw() for _ in range(_LAID)]
    point = stream.randint(0, sum(laid))
    for length in laid:
        if point <= length:
            return length - point
        point -= length
    return 0


def open_loop(
    env: LeanEnv,
    sessions: list[Session],
    workload: TransactionSource,
    rate_per_s: float,
    streams: Streams,
) -> Generator[Wait, Any, None]:
    """A Poisson source that spreads transactions over the sessions' nodes in turn, for ever."""
    stream = streams.stream("arrivals")
    gap_ns = NS_PER_S / rate_per_s
    number = 0
    while True:
        yield stream.exponential(gap_ns)
        node = number % len(sessions)
        env.process(sessions[node].run(workload.transaction(node), env.now_ns))
        number += 1
