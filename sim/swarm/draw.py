"""A random recipe from a seed.

Law: every seed takes a random subset of the features, and of the kinds of faults: what is left out
cannot hide what is there. Clusters are small, ticks are fast and rows are few, so that rare things
are common.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

from sim.streams import Stream, Streams
from sim.swarm.recipe import VERBS, Fault, Recipe
from sim.units import MIB, NS_PER_MS

Choice = TypeVar("Choice")

_VALUES: Final[dict[str, tuple[int, int]]] = {
    "crash": (50, 600),  # ms until it is up again
    "isolate": (50, 800),  # ms until it is heard again
    "drop": (20, 500),  # ms
    "delay": (1, 60),  # ms
    "slow_disk": (2, 30),  # times
    "set_config": (0, 3000),  # bytes of a limit
    "hold": (1, 80),  # ms
    "fill_disk": (20, 400),  # ms
}
"""Least and largest ``value`` of a fault, by verb."""

_COMMON: Final = {"transfer": 4, "split": 2, "merge": 2, "hold": 3}
"""Verbs drawn more often than once: what moves locks, and what lets commands meet that."""

_TOGETHER: Final = 0.4
"""Share of faults that come right after another and are about the same: races need company."""


def recipe_of(seed: int) -> Recipe:
    """Returns the recipe of a seed."""
    stream = Streams(seed, 0).stream("swarm/recipe")
    busy_ns = stream.randint(6, 36) * 50 * NS_PER_MS
    in_memory = stream.random() < 0.75
    return Recipe(
        seed=seed,
        stores=_one_of(stream, (3, 3, 3, 4, 5)),
        tidb_nodes=stream.randint(1, 2),
        regions=stream.randint(1, 3),
        clients=stream.randint(2, 8),
        busy_ns=busy_ns,
        rows=_one_of(stream, (2, 4, 8, 20)),
        counters=stream.randint(0, 2),
        transfers=stream.randint(0, 3),
        orders=stream.randint(0, 2),
        blind=stream.randint(1, 2),
        behaviour=_one_of(stream, ("v8.5", "v8.5", "v6.0", "rfc77")),
        pipelined=in_memory or stream.random() < 0.7,
        in_memory=in_memory,
        fallback=_one_of(stream, ("sync", "sync", "pipelined")),
        peer_limit_bytes=_one_of(stream, (512 * 1024, 512 * 1024, 2000, 500)),
        instance_limit_bytes=_one_of(stream, (100 * MIB, 100 * MIB, 1500)),
        store_io_pool_size=stream.randint(0, 1),
        cmd_batch=stream.random() < 0.8,
        fair_locking=stream.random() < 0.3,
        async_commit=stream.random() < 0.3,
        one_pc=stream.random() < 0.3,
        tick_ms=_one_of(stream, (10, 20, 40)),
        entry_max_bytes=_one_of(stream, (8 * MIB, 8 * MIB, 8 * MIB, 450)),
        max_log_gap=_one_of(stream, (128, 128, 3)),
        old_stores=_one_of(stream, (0, 0, 0, 0, 1)),
        slow_cpu=_one_of(stream, (1, 1, 5, 20)),
        faults=_faults(stream, busy_ns),
    )


def _one_of(stream: Stream, choices: Sequence[Choice]) -> Choice:
    return choices[stream.randint(0, len(choices) - 1)]


def _faults(stream: Stream, busy_ns: int) -> tuple[Fault, ...]:
    verbs = [verb for verb in VERBS if stream.random() < 0.35]
    for verb, times in _COMMON.items():
        if stream.random() < 0.6:
            verbs += [verb] * times
    if not verbs:
        return ()
    faults: list[Fault] = []
    for _ in range(stream.randint(1, 24)):
        verb = _one_of(stream, verbs)
        low, high = _VALUES.get(verb, (0, 0))
        at_ns = stream.randint(0, busy_ns // NS_PER_MS) * NS_PER_MS
        which = stream.randint(0, 11)
        if faults and stream.random() < _TOGETHER:
            at_ns = faults[-1].at_ns + stream.randint(0, 3 * NS_PER_MS)
            which = faults[-1].which
        faults.append(
            Fault(
                at_ns=at_ns,
                verb=verb,
                which=which,
                where=stream.randint(0, 59),
                value=stream.randint(low, high),
            )
        )
    return tuple(sorted(faults, key=lambda fault: fault.at_ns))
