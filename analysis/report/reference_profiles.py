"""Named disks, networks and machines as rows of the reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sim.scenario.profiles import profiles

PROFILE_COLUMNS: Final = {
    "machines": (
        "machine", "raft log's disk", "data's disk", "network", "store: vCPU, memory", "TiDB: vCPU",
        "assumed", "where from",
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
    store = f"{figures['store_cores']}, {figures['store_memory']}"
    disks = figures["disk"]
    return disks["raft"], disks["kv"], network, store, str(figures["tidb_cores"])


def _disk(figures: Mapping[str, Any]) -> tuple[str, ...]:
    spikes = figures["append"].get("spikes")
    rare = ""
    if spikes:
        part = f"{spikes['probability']:f}".rstrip("0")
        rare = f"{part} of them, {spikes['shortest']} to {spikes['longest']}"
    throttled = "yes" if figures.get("throttled") else "no"
    writes = f"{figures['write_iops']:,}"
    return figures["write_bandwidth"], writes, _shape(figures["append"]), rare or "–", throttled


def _network(figures: Mapping[str, Any]) -> tuple[str, ...]:
    between = figures.get("cross_zone")
    return (
        _shape(figures["same_zone"]), _shape(between) if between else "–", figures["bandwidth"],
    )  # fmt: skip


def _shape(shape: Mapping[str, Any]) -> str:
    return f"p50 {shape['p50']}, p99 {shape['p99']}"
