"""Named disks, networks and machines as rows of the reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from sim.scenario.profiles import profiles

PROFILE_COLUMNS: Final = {
    "machines": (
        "machine", "raft log's disk", "data's disk", "network", "store: vCPU at speed, memory",
        "TiDB: vCPU", "assumed", "where from",
    ),
    "disks": (
        "disk", "bandwidth", "writes/s", "append + fsync", "rare long ones", "token bucket",
        "assumed", "where from",
    ),
    "networks": (
        "network", "round trip in a zone", "between zones", "port", "assumed", "where from",
    ),
}  # fmt: skip
"""By file of ``scenarios/profiles``."""


def profile_rows(file: str) -> Iterator[tuple[str, ...]]:
    """Yields a row a profile of ``disks``, ``networks`` or ``machines``."""
    cells = {"machines": _machine, "disks": _disk, "networks": _network}[file]
    for name, node in profiles(file).items():
        figures: Mapping[str, Any] = node.plain()
        assumed = ", ".join(figures.get("assumed", ())) or "–"
        source = " ".join(str(figures.get("source", "–")).split())
        yield (f"`{name}`", *cells(figures), assumed, source)


def _machine(figures: Mapping[str, Any]) -> tuple[str, ...]:
    network = figures["network"]
    if isinstance(network, Mapping):
        network = f"{network['profile']}, {network['bandwidth']}"
    cores = f"{figures['store_cores']} at {figures.get('store_core_speed', 1)}"
    store = f"{cores}, {figures['store_memory']}"
    disks = figures["disk"]
    return disks["raft"], disks["kv"], network, store, str(figures["tidb_cores"])


def _disk(figures: Mapping[str, Any]) -> tuple[str, ...]:
    append = figures["append"]
    spikes = append.get("spikes") if isinstance(append, Mapping) else None
    rare = ""
    if spikes:
        part = f"{spikes['probability']:f}".rstrip("0")
        rare = f"{part} of them, {spikes['shortest']} to {spikes['longest']}"
    throttled = "yes" if figures.get("throttled") else "no"
    writes = f"{figures['write_iops']:,}"
    return figures["write_bandwidth"], writes, _shape(append), rare or "–", throttled


def _network(figures: Mapping[str, Any]) -> tuple[str, ...]:
    between = figures.get("cross_zone")
    return (
        _shape(figures["same_zone"]), _shape(between) if between else "–", figures["bandwidth"],
    )  # fmt: skip


def _shape(shape: Mapping[str, Any] | str) -> str:
    """Returns a distribution in the words of its form; of measured quantiles two."""
    if isinstance(shape, str):
        return shape
    if "quantiles" in shape:
        median, high = (_nearest(shape["quantiles"], share) for share in (0.5, 0.99))
        return f"measured: p50 {median}, p99 {high}"
    return ", ".join(f"{name} {value}" for name, value in shape.items() if name != "spikes")


def _nearest(quantiles: Sequence[tuple[float, str]], share: float) -> str:
    return min(quantiles, key=lambda pair: abs(pair[0] - share))[1]
