"""A cluster that does at once what it is asked to, and writes it down: for scenes of operations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from analysis.study.load import load_study
from sim.engine import LeanEnv
from sim.operations import start_operations
from sim.protocol.region import Route, StoreId, lay_out_regions
from sim.record.facts import COUNTER, EVENT, MemorySink
from sim.record.recorder import Recorder
from sim.scenario import Scenario
from sim.streams import Streams
from sim.transport.messages import DiskUsage
from sim.units import NS_PER_MS, NS_PER_S
from sim.workload import build_workload
from sim.workload.layout import even_start_keys

BASE = """\
run: {seed: 1, warmup: 1s, measure: 2s}
workload:
  kind: custom
  threads: 2
  tables: {acct: {rows: 900}}
  transactions: {move: {statements: [{lock: acct, rows: 2}, {update: acct}]}}
"""


class FakeControl:
    """Does everything at once; ``log`` has (ms, what)."""

    def __init__(self, cluster: Any) -> None:
        self.cluster = cluster
        self.log: list[tuple[int, str]] = []
        self.obeys = True
        """Whether leaders move when they are asked to."""

    def say(self, text: str) -> None:
        self.log.append((self.cluster.env.now_ns // NS_PER_MS, text))

    def transfer_leader(self, region_id: int, to_store: int) -> None:
        self.say(f"transfer {region_id} to {to_store}")
        if self.obeys:
            self.cluster.pd.routes.set_leader(region_id, to_store)

    def split_region(self, region_id: int, split_key: bytes) -> None:
        route = self.cluster.pd.routes.by_id(region_id)
        new_id = max(each.region.region_id for each in self.cluster.pd.routes.routes) + 1
        self.say(f"split {region_id} into {new_id} and itself")
        for part in route.region.split([split_key], [new_id]):
            self.cluster.pd.routes.put(Route(part, route.leader_store))

    def merge_region(self, source_id: int, target_id: int) -> None:
        self.say(f"merge {source_id} into {target_id}")
        routes = self.cluster.pd.routes
        source, target = routes.by_id(source_id).region, routes.by_id(target_id).region
        ends = (source.start_key, target.end_key)
        if target.end_key and target.end_key == source.start_key:
            ends = (target.start_key, source.end_key)
        version = max(source.epoch.version, target.epoch.version) + 1
        routes.put(Route(target.with_range(*ends, version), routes.by_id(target_id).leader_store))

    def change_peer(self, region_id: int, *, add: int = 0, remove: int = 0) -> None:
        self.say(f"change {region_id} add {add} remove {remove}")
        route = self.cluster.pd.routes.by_id(region_id)
        stores = tuple(s for s in route.region.stores if s != remove)
        stores += (StoreId(add),) if add else ()
        region = route.region.with_stores(stores, route.region.epoch.conf_ver + 1)
        self.cluster.pd.routes.put(Route(region, route.leader_store))

    def crash_store(self, store_id: int) -> None:
        self.say(f"crash {store_id}")
        self.cluster.down.append(store_id)

    def restart_store(self, store_id: int) -> None:
        self.say(f"restart {store_id}")
        self.cluster.down.remove(store_id)

    def isolate(self, names: Sequence[str]) -> None:
        self.say(f"isolate {' '.join(names)}")

    def partition(self, groups: Sequence[Sequence[str]]) -> None:
        self.say("partition " + " | ".join(" ".join(group) for group in groups))

    @staticmethod
    def isolation(names: Sequence[str]) -> list[list[str]]:
        return [list(names), ["all others"]]

    def heal(self, still: Sequence[Sequence[Sequence[str]]] = ()) -> None:
        kept = "; ".join(" | ".join(" ".join(group) for group in groups) for groups in still)
        self.say(f"heal but {kept}" if kept else "heal")

    def slow_disk(self, store_id: int, factor: float) -> None:
        self.say(f"slow {store_id} by {factor:g}")

    def stress_cpu(self, store_id: int, workers: int) -> None:
        self.say(f"stress {store_id} with {workers}")

    def fill_disk(self, store_id: int, usage: DiskUsage) -> None:
        almost = " almost" if usage is DiskUsage.ALMOST_FULL else ""
        self.say(f"fill {store_id}{almost}")

    def free_disk(self, store_id: int) -> None:
        self.say(f"free {store_id}")

    def upgrade_store(self, store_id: int, version: str) -> None:
        self.say(f"upgrade {store_id} to {version}")

    def set_config(self, key: str, value: object, *, store: int | None = None) -> None:
        self.say(f"set {key} {value} on {store}")


class FakeFilters:
    def __init__(self, control: FakeControl) -> None:
        self.control = control

    def delay(self, kind: str, delay_ns: int, **where: int) -> str:
        self.control.say(f"filter {kind} {delay_ns} {where}")
        return kind

    def remove(self, rule: str) -> None:
        self.control.say(f"unfilter {rule}")


def scenario_of(operations: str, folder: Path, *overrides: str) -> Scenario:
    path = folder / "stage.yaml"
    path.write_text(f"{BASE}operations:\n{operations}\n", encoding="utf-8")
    (scenario,) = load_study(path, overrides).variants.values()
    return scenario


class Stage:
    """A fake cluster of ``regions`` regions with its operations."""

    def __init__(
        self, operations: str, folder: Path, *overrides: str, regions: int = 3, seed: int = 1
    ) -> None:
        scenario = scenario_of(operations, folder, *overrides)
        streams = Streams(seed, 0)
        workload = build_workload(scenario.workload, streams)
        cluster_section = scenario.cluster
        starts = even_start_keys(workload.tables(), regions)
        self.sink = MemorySink()
        self.recorder = Recorder(NS_PER_S, self.sink)
        cluster: Any = SimpleNamespace(
            env=LeanEnv(),
            stores={s: SimpleNamespace(peers={}) for s in range(1, cluster_section.stores + 1)},
            pd=SimpleNamespace(
                routes=lay_out_regions(starts, cluster_section.stores, cluster_section.replicas)
            ),
            down=[],
        )
        self.cluster = cluster
        self.cluster.up_stores = lambda: [
            store for store in self.cluster.stores if store not in self.cluster.down
        ]
        self.control = FakeControl(self.cluster)
        self.cluster.filters = FakeFilters(self.control)
        start_operations(
            scenario,
            self.cluster,
            self.control,  # type: ignore[arg-type]
            workload.tables(),
            streams,
            self.recorder,
        )

    def grow(self, region_id: int, entries: int) -> None:
        """Lets a region's log be that long, on the store where PD sees its leader."""
        route = self.cluster.pd.routes.by_id(region_id)
        log = SimpleNamespace(last_index=entries)
        peer = SimpleNamespace(is_leader=True, raft=SimpleNamespace(log=log))
        self.cluster.stores[route.leader_store].peers[region_id] = peer

    def run(self, seconds: float) -> list[tuple[int, str]]:
        """Runs on to a time and returns what was asked for so far, as (ms, what)."""
        self.cluster.env.run_until(int(seconds * NS_PER_S))
        return self.control.log

    def leaders(self) -> list[int]:
        return [route.leader_store for route in self.cluster.pd.routes.routes]

    def facts(self) -> tuple[dict[str, int], list[tuple[int, str, str]]]:
        """Returns what was done by kind and left out by operation and reason, and all events."""
        self.recorder.close(self.cluster.env.now_ns)
        counts: dict[str, int] = {}
        for _, metric, kind, value in self.sink.rows(COUNTER):
            assert metric in {"operations", "operations_skipped"}
            counts[str(kind)] = counts.get(str(kind), 0) + int(value)
        return counts, cast("list[tuple[int, str, str]]", self.sink.rows(EVENT))
