"""What one run of the swarm consists of, as a value that can be printed, compared and shrunk.

Law: a fault names regions, stores and keys by numbers that are taken modulo what is there when it
happens, so that leaving out one fault leaves a meaning to all others.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from sim.units import MIB, NS_PER_MS

VERBS: Final = (
    "transfer", "split", "merge", "crash", "isolate", "heal", "drop", "delay", "clear_filters",
    "slow_disk", "set_config", "change_peer", "campaign", "hold", "upgrade", "fill_disk",
)  # fmt: skip
"""Kinds of faults; a run has some of them only."""


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
    tidb_nodes: int = 1
    regions: int = 1
    clients: int = 4
    busy_ns: int = 1000 * NS_PER_MS
    """For how long clients begin transactions and faults happen."""
    rows: int = 6
    counters: int = 0
    """Weights of the kinds of transactions: increments of a row; see ``sim.swarm.workload``."""
    transfers: int = 1
    orders: int = 0
    blind: int = 0
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
    faults: tuple[Fault, ...] = ()
    ablations: tuple[str, ...] = ()

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
