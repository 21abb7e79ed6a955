"""What carrying out one operation needs: the cluster, which region and store are meant, the facts.

Targets are chosen at the moment an operation is carried out, from what PD believes, and at random
from the operation's own stream. Where there is nothing to choose from the answer is None, and the
operation is left out this time; what is left out is counted by its name and the reason.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sim.engine import LeanEnv, Wait
from sim.fact_names import SKIPPED
from sim.operations.hot_regions import HotRegions
from sim.operations.in_force import FaultsInForce
from sim.operations.key_ranges import KeyRanges
from sim.operations.pd.operator_controller import OperatorController
from sim.protocol.region import Region, RegionMap, Route
from sim.record.recorder import Recorder
from sim.scenario.schema.operations import Driven, Operation
from sim.scenario.targets import RegionTarget, StoreTarget
from sim.server.cluster import Cluster
from sim.server.control import Control
from sim.streams import Stream

Process = Generator[Wait, Any, None]

_T = TypeVar("_T")


@dataclass(frozen=True)
class OperationContext:
    """One operation's cluster, random stream and record."""

    cluster: Cluster
    control: Control
    ranges: KeyRanges
    controller: OperatorController
    in_force: FaultsInForce
    recorder: Recorder
    stream: Stream
    hot_regions: HotRegions
    region_split_size_bytes: int

    @property
    def env(self) -> LeanEnv:
        """The clock."""
        return self.cluster.env

    @property
    def routes(self) -> RegionMap:
        """The regions and their leaders as PD knows them."""
        return self.cluster.pd.routes

    def is_over(self, operation: Driven) -> bool:
        """Returns whether a scheduler's time has passed."""
        return operation.until_ns is not None and self.env.now_ns >= operation.until_ns

    def record(self, kind: str, detail: str) -> None:
        """Counts an operation, and writes an event that says what it is about."""
        self.recorder.counter("operations", kind).value += 1
        self.record_event(kind, detail)

    def record_event(self, kind: str, detail: str) -> None:
        """Writes an event for a moment within an operation, such as its end."""
        self.recorder.event(self.env.now_ns, kind, detail)

    def skip(self, operation: Operation, why: str, about: str = "") -> None:
        """Counts an operation that could not be done, and writes an event that says why.

        Args:
            operation: which.
            why: a key of ``SKIPPED``.
            about: the region or the store.
        """
        self.recorder.counter("operations_skipped", f"{operation.name}:{why}").value += 1
        what = ", ".join(filter(None, [operation.do.replace("_", " "), about]))
        self.record_event("skipped", f"{what}: {SKIPPED[why]}")

    def size_bytes(self, region: Region) -> int:
        """Returns the size of a region."""
        return self.ranges.size_bytes(region.start_key, region.end_key)

    def draw(self, candidates: Sequence[_T]) -> _T | None:
        """Returns one of the candidates, each equally likely; None if there is none."""
        if not candidates:
            return None
        return candidates[self.stream.randint(0, len(candidates) - 1)]

    def region(self, target: RegionTarget) -> Route | None:
        """Returns the region that is meant, with the leader PD knows."""
        routes = self.routes
        match target.by:
            case "id":
                return routes.by_id(target.region_id)
            case "key":
                return routes.locate(bytes.fromhex(target.key))
            case "table":
                return routes.locate(self.ranges.key_of(target.table, target.row or 1))
            case "hottest":
                hottest = self.hot_regions.hottest()
                return None if hottest is None else routes.by_id(hottest)
            case "random":
                return self.draw(routes.routes)

    def store(self, target: StoreTarget, among: Sequence[int]) -> int | None:
        """Returns the store that is meant; ``among`` are those that a random one is drawn from."""
        match target.by:
            case "id":
                return target.store
            case "leader_of":
                assert target.region is not None, "the schema gives leader_of a region"
                route = self.region(target.region)
                return None if route is None else route.leader_store or None
            case _:
                return self.draw(among)

    @staticmethod
    def missing(target: StoreTarget, otherwise: str) -> str:
        """Returns why ``store`` has found none; ``otherwise``: for one that chance draws."""
        return otherwise if target.by == "random" else "no_store"

    def stores(self, target: StoreTarget) -> list[int]:
        """Returns the stores that are meant, one after the other."""
        if target.by == "each":
            return sorted(self.cluster.stores)
        store = self.store(target, self.cluster.up_stores())
        return [] if store is None else [store]
