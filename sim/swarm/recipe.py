"""What one run of the swarm consists of: a value drawn from a seed, printed, compared and shrunk.

A fault names regions, stores and keys by numbers that are taken modulo what is there when it
happens, so that all others keep a meaning when one is left out. Every seed takes a random subset of
the features, and of the kinds of faults: what is left out cannot hide what is there. Clusters are
small, ticks are fast and rows are few, so that rare things are common.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, TypeVar

from sim.raftstore.failpoints import POINTS
from sim.streams import Stream, Streams
from sim.units import MIB, NS_PER_MS

Choice = TypeVar("Choice")

VERBS: Final = (
    "transfer", "split", "merge", "crash", "isolate", "heal", "drop", "delay", "clear_filters",
    "slow_disk", "set_config", "change_peer", "campaign", "hold", "upgrade", "fill_disk",
)  # fmt: skip
"""Kinds of faults that are drawn one by one; a run has some of them only."""

HELD_POINTS: Final = (
    # An answer held up is one delayed; what is held up before it is written is so in a race.
    *(point for point in POINTS if point not in {"proposed", "before_write"}),
    "after_snapshot",
    "after_snapshot",
    "before_propose",
)
"""Where ``hold`` holds; where races need commands more often than once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something that happens to the cluster at ``at_ns``."""

    at_ns: int
    verb: str
    which: int
    """The region, or the store where it is about one."""
    where: int
    """The store it goes to, the other region, the key, the message: by verb."""
    value: int = 0
    """A length of time, a factor or a limit: by verb."""

    def __str__(self) -> str:
        words = f"{{at: {self.at_ns / NS_PER_MS:g}ms, do: {self.verb}, which: {self.which}"
        return f"{words}, where: {self.where}, value: {self.value}}}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """One run: a cluster, its settings, its clients, and what happens to it."""

    seed: int
    stores: int = 3
    replicas: int = 3
    tidb_nodes: int = 1
    regions: int = 1
    clients: int = 4
    staggered: bool = False
    """Clients begin one after the other, so that some come when others are already waiting."""
    busy_ns: int = 1000 * NS_PER_MS
    """For how long clients begin transactions and faults happen."""
    rows: int = 6
    counters: int = 0
    """Weights of the kinds of transactions: increments of a row; see ``sim.swarm.workload``."""
    transfers: int = 1
    orders: int = 0
    blind: int = 0
    readers: int = 0
    behaviour: str = "v8.5"
    pipelined: bool = True
    in_memory: bool = True
    fallback: str = "sync"
    peer_limit_bytes: int = 512 * 1024
    instance_limit_bytes: int = 100 * MIB
    store_io_pool_size: int = 0
    cmd_batch: bool = True
    fair_locking: bool = False
    async_commit: bool = False
    one_pc: bool = False
    tick_ms: int = 20
    entry_max_bytes: int = 8 * MIB
    max_log_gap: int = 128
    """``leader-transfer-max-log-lag``; a merge allows ten entries, or half of this."""
    old_stores: int = 0
    """Stores that run a version from before in-memory locks."""
    slow_cpu: int = 1
    """All CPU work of TiKV takes this many times longer, so that more things happen at once."""
    write_amplification: int = 3
    """Much makes stores owe a second of compaction at once, so that their writes are delayed."""
    faults: tuple[Fault, ...] = ()
    ablations: tuple[str, ...] = ()

    def weights(self) -> dict[str, int]:
        """Returns the weight of each kind of transaction."""
        return {
            "counters": self.counters,
            "transfers": self.transfers,
            "orders": self.orders,
            "blind": self.blind,
            "readers": self.readers,
        }

    def without(self, ablation_names: tuple[str, ...]) -> Recipe:
        """Returns the recipe without some protections."""
        return replace(self, ablations=ablation_names)

    def __str__(self) -> str:
        values: dict[str, Any] = asdict(self)
        del values["faults"], values["busy_ns"]
        lines = [f"busy: {self.busy_ns / NS_PER_MS:g}ms"]
        lines += [f"{name}: {_shown(value)}" for name, value in values.items()]
        lines.append("faults:" if self.faults else "faults: []")
        lines += [f"  - {fault}" for fault in self.faults]
        return "\n".join(lines)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    return str(value)


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
"""Verbs drawn more often than once: what moves locks, and what lets commands
meet that."""

_BEFORE_ACK: Final = HELD_POINTS.index("before_transfer_ack")

_REPLICAS: Final = (3, 3, 3, 3, 3, 3, 3, 1, 2, 5)
"""Copies of each region that are wanted; there are no more than stores."""

_AMPLIFICATIONS: Final = (3, 1000)

_RACING: Final = 0.4
"""Share of runs that have races: a few faults that together lead where one alone hardly does."""

_REELECTED: Final = 0.15
"""Share of runs in which a leader is elected again in the term after its own."""

_TOGETHER: Final = 0.4
"""Share of faults that come right after another and are about the same: races need that."""


def recipe_of(seed: int) -> Recipe:
    """Returns the recipe of a seed."""
    streams = Streams(seed, 0)
    stream = streams.stream("swarm/recipe")
    busy_ns = stream.randint(6, 36) * 50 * NS_PER_MS
    in_memory = stream.random() < 0.75
    recipe = Recipe(
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
    # Streams of their own: what the others draw does not depend on them.
    copies = _one_of(streams.stream("swarm/replicas"), _REPLICAS)
    amplification = _one_of(streams.stream("swarm/compaction"), _AMPLIFICATIONS)
    recipe = replace(recipe, replicas=min(copies, recipe.stores), write_amplification=amplification)
    races = streams.stream("swarm/races")
    if races.random() < _RACING:
        recipe = _with_races(recipe, races)
    reelections = streams.stream("swarm/reelections")
    return _with_reelection(recipe, reelections) if reelections.random() < _REELECTED else recipe


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


def _with_races(recipe: Recipe, stream: Stream) -> Recipe:
    """Returns a recipe with readers, and with up to four races beside its other faults."""
    faults = list(recipe.faults) if stream.random() < 0.5 else []
    for _ in range(stream.randint(1, 4)):
        at_ns = stream.randint(0, max(1, recipe.busy_ns - 200 * NS_PER_MS) // NS_PER_MS) * NS_PER_MS
        race = _one_of(stream, _RACES)
        faults += race(stream, at_ns, recipe.tick_ms)
    return replace(
        recipe,
        tidb_nodes=2,
        clients=stream.randint(4, 24),
        staggered=stream.random() < 0.7,
        readers=stream.randint(1, 4),
        transfers=max(1, recipe.transfers),
        faults=tuple(sorted(faults, key=lambda fault: fault.at_ns)),
    )


def _with_reelection(recipe: Recipe, stream: Stream) -> Recipe:
    """Returns a recipe in which a leader steps down and is elected again behind a split of its own.

    It takes some thirty ticks; what the leader has promised before is proposed after that.
    """
    held_ms = stream.randint(32, 40) * recipe.tick_ms
    at_ms = stream.randint(0, max(1, recipe.busy_ns // NS_PER_MS - held_ms))
    key = stream.randint(0, 59) // 5 * 5 + stream.randint(0, 2)  # Among the accounts.
    fault = Fault(at_ns=at_ms * NS_PER_MS, verb="reelect", which=0, where=key, value=held_ms)
    faults = sorted((*recipe.faults, fault), key=lambda fault: fault.at_ns)
    return replace(recipe, faults=tuple(faults))


def _split_race(stream: Stream, at_ns: int, tick_ms: int) -> list[Fault]:
    """A region splits while its leader cannot apply: the others elect a leader for a part of it."""
    region = stream.randint(0, 11)
    held_ms = stream.randint(5, 60) * tick_ms
    hold = Fault(at_ns=at_ns, verb="hold_apply", which=region, where=0, value=held_ms)
    key = stream.randint(0, 59) // 5 * 5 + stream.randint(0, 2)  # Among the accounts.
    split = Fault(at_ns=at_ns + NS_PER_MS, verb="split", which=region, where=key)
    return [hold, split, *_new_routes(stream, at_ns, held_ms)]


def _merge_race(stream: Stream, at_ns: int, tick_ms: int) -> list[Fault]:
    """Two regions merge; the target's replica beside the source's leader hears of it late."""
    regions = stream.randint(0, 11)
    backwards = stream.randint(0, 1)
    lag_ms = stream.randint(1, 40) * tick_ms
    merge = Fault(at_ns=at_ns, verb="merge", which=regions, where=backwards)
    lag = Fault(at_ns=at_ns, verb="lag", which=regions, where=backwards, value=lag_ms)
    return [lag, merge, *_new_routes(stream, at_ns, lag_ms)]


def _transfer_race(stream: Stream, at_ns: int, tick_ms: int) -> list[Fault]:
    """A region is to be merged while its leader, which applies late, is to move."""
    regions = stream.randint(0, 11)
    held_ms = stream.randint(1, 10) * tick_ms
    faults = [Fault(at_ns=at_ns, verb="hold_apply", which=regions, where=0, value=held_ms)]
    if stream.random() < 0.7:  # The target's answer comes when the merge has begun.
        acked_ms = stream.randint(2, 30)
        faults += [
            Fault(at_ns=at_ns, verb="hold", which=store, where=_BEFORE_ACK, value=acked_ms)
            for store in range(3)
        ]
    for _ in range(stream.randint(1, 3)):
        later_ns = stream.randint(0, held_ms * NS_PER_MS // 2)
        where = stream.randint(0, 59)
        faults.append(Fault(at_ns=at_ns + later_ns, verb="transfer", which=regions, where=where))
    later_ns = stream.randint(0, held_ms * NS_PER_MS)
    faults.append(Fault(at_ns=at_ns + later_ns, verb="merge", which=regions, where=1))
    return faults


def _late_write_race(stream: Stream, at_ns: int, tick_ms: int) -> list[Fault]:
    """A region changes, or its leader goes and comes back, behind what its commands have read."""
    region = stream.randint(0, 11)
    held_ms = stream.randint(2, 8) * tick_ms
    point = stream.randint(0, 1)
    hold = Fault(at_ns=at_ns, verb="hold_writes", which=region, where=point, value=held_ms)
    change_ns = at_ns + stream.randint(1, max(2, held_ms // 4)) * NS_PER_MS
    verb = _one_of(stream, ("away_and_back", "away_and_back", "split", "merge"))
    where = stream.randint(0, 59)
    back_ms = held_ms // 3 if verb == "away_and_back" else 0
    change = Fault(at_ns=change_ns, verb=verb, which=region, where=where, value=back_ms)
    return [hold, change, *_new_routes(stream, at_ns, held_ms)]


def _detector_race(stream: Stream, at_ns: int, _tick_ms: int) -> list[Fault]:
    """The first region, whose leader looks for deadlocks, changes its leader again and again."""
    times = sorted(stream.randint(0, 150) for _ in range(stream.randint(2, 8)))
    return [
        Fault(at_ns=at_ns + ms * NS_PER_MS, verb="transfer", which=0, where=stream.randint(0, 59))
        for ms in times
    ]


def _new_routes(stream: Stream, at_ns: int, within_ms: int) -> list[Fault]:
    """A TiDB node asks PD for its routes from time to time, while the other keeps what it has."""
    node = stream.randint(0, 1)
    times = [stream.randint(0, within_ms) for _ in range(stream.randint(2, 6))]
    return [
        Fault(at_ns=at_ns + ms * NS_PER_MS, verb="forget_routes", which=node, where=0)
        for ms in sorted(times)
    ]


_RACES: Final = (
    _split_race, _merge_race, _transfer_race, _late_write_race, _late_write_race, _detector_race,
)  # fmt: skip
