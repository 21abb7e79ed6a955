"""Section ``operations``: what happens to the cluster, at a time, at a rate, or by schedulers.

Every kind of operation has its own keys; ``do`` says which. Times are simulated and count from the
start of the run, warm-up included.

Source: PD docs, pd-ctl and configuration file (names and limits); TiKV docs; tiup (rolling
restart).
"""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Annotated, Any, Literal, Self

from pydantic import field_validator, model_validator

from sim.scenario.fields import (
    Count,
    Name,
    Quantity,
    Rate,
    Section,
    Switch,
    Version,
    key,
    wrong,
)
from sim.scenario.problems import shown
from sim.scenario.quantities import DURATION
from sim.scenario.resolved_operations import OPERATIONS, Operation
from sim.scenario.targets import RegionField, StoreField, StoresField

Moment = Annotated[int, Quantity(DURATION, "0ns", "24h")]
Interval = Annotated[int, Quantity(DURATION, "1ms", "24h")]

_UNITS = ("_ns", "_bytes", "_per_s")


def said_as(field: str) -> str:
    """Returns the key that a resolved field is written as: its name without the unit."""
    for unit in _UNITS:
        field = field.removesuffix(unit)
    return field


class OperationSection(Section):
    """What all operations have."""

    name: Name | None = key(
        default=None,
        description="What it is called, in an entry of a list; sweeps and variants change "
        "operations.NAME.key. Source: by default its place, from 0.",
    )

    def spec(self, name: str) -> Operation:
        """Returns the resolved operation; fields are found by name."""
        model = OPERATIONS[self.do]  # type: ignore[attr-defined] # every kind of operation has it
        said = {said_as(field.name): field.name for field in fields(model)}
        values: dict[str, Any] = {
            field: getattr(self, word if hasattr(self, word) else f"{word}_")
            for word, field in said.items()
            if field not in ("name", "do")
        }
        return model(name=name, **values)


class TimedSection(OperationSection):
    """When something is done."""

    at: Moment | None = key(default=None, description="Once, at this time. Source: given.")
    every: Interval | None = key(
        default=None,
        description="Again and again, first at from or after one interval. Source: given.",
    )
    rate: Rate | None = key(
        default=None, description="By chance, a Poisson process of this rate. Source: given."
    )
    from_: Moment | None = key(
        default=None, alias="from", description="Not before. Source: by default, the start."
    )
    until: Moment | None = key(
        default=None, description="Not from then on. Source: by default, the end of the run."
    )
    count: Annotated[int, Count(1, 1_000_000)] | None = key(
        default=None, description="At most so often. Source: by default, without limit."
    )

    @model_validator(mode="after")
    def _has_one_time(self) -> Self:
        given = [w for w in ("at", "every", "rate") if getattr(self, w) is not None]
        if len(given) != 1:
            raise wrong(f"says {' and '.join(given) or 'no time'}; write one of at: 10s, "
                        "every: 2s, rate: 0.5/s")  # fmt: skip
        if self.at is not None:
            for word in ("from", "until", "count"):
                if getattr(self, "from_" if word == "from" else word) is not None:
                    raise wrong("has no meaning beside at; remove one of the two", at=word)
        if self.until is not None and self.until <= (self.from_ or 0):
            raise wrong("is not after from; nothing would be done", at="until")
        return self


class DrivenSection(OperationSection):
    """From when until when a scheduler works."""

    from_: Moment = key(
        default="0s", alias="from", description="Works from then on. Source: our own default."
    )
    until: Moment | None = key(
        default=None, description="Works until then. Source: by default, the end of the run."
    )


class TransferLeaderSection(TimedSection):
    """Moves the leader of a region."""

    do: Literal["transfer_leader"] = key(description="Source: given.")
    region: RegionField = key(description="Whose leader. Source: given.")
    to: StoreField = key(
        default="random",
        description="Where to; random: any other store of the region. Source: our own default.",
    )


class ShuffleLeaderSection(TimedSection):
    """Moves every leader to a random store of its region."""

    do: Literal["shuffle_leader"] = key(description="Source: given.")


class SplitRegionSection(TimedSection):
    """Splits a region: one with a row named at that row, any other in its middle."""

    do: Literal["split_region"] = key(description="Source: given.")
    region: RegionField = key(description="Which. Source: given.")


class MergeRegionSection(TimedSection):
    """Merges a region into a neighbour."""

    do: Literal["merge_region"] = key(description="Source: given.")
    region: RegionField = key(description="Which ceases to be. Source: given.")
    into: Literal["next", "previous"] = key(
        default="next", description="Which neighbour takes it over. Source: our own default."
    )


class RollingSection(TimedSection):
    """What a store goes through that is emptied of leaders."""

    store: StoresField = key(description="Which; each: one after the other. Source: given.")
    restart: Switch = key(
        default=False,
        description="Stop the store once it has no leaders, and start it again. Source: our own "
        "default.",
    )
    down: Moment = key(
        default="5s", description="From stop to start. Source: assumed, of a small TiKV."
    )
    pause: Moment = key(
        default="10s", description="Between two stores. Source: assumed; tiup waits for PD's word."
    )
    timeout: Interval = key(
        default="10m",
        description="A store that still has leaders then is stopped all the same. Source: tiup, "
        "--transfer-timeout: 600 s.",
    )


class EvictLeaderSection(RollingSection):
    """Moves all leaders away from a store."""

    do: Literal["evict_leader"] = key(description="Source: given.")
    for_: Interval = key(
        default="1m",
        alias="for",
        description="Without a restart: keep leaders away this long. Source: our own default.",
    )


class UpgradeStoreSection(RollingSection):
    """Gives a store another version."""

    do: Literal["upgrade_store"] = key(description="Source: given.")
    to: Version = key(description="The version, such as 6.0.0. Source: given.")
    restart: Switch = key(
        default=True,
        description="Empty the store of leaders, stop it, start it again. Source: TiDB docs, "
        "upgrade with tiup.",
    )


class FaultSection(TimedSection):
    """Something that lasts."""

    for_: Interval | None = key(
        default=None,
        alias="for",
        description="How long. Source: by default, until something ends it.",
    )


class CrashStoreSection(FaultSection):
    """Stops a store without warning."""

    do: Literal["crash_store"] = key(description="Source: given.")
    store: StoreField = key(description="Which. Source: given.")


class RestartStoreSection(TimedSection):
    """Starts a store that has crashed."""

    do: Literal["restart_store"] = key(description="Source: given.")
    store: StoreField = key(description="Which; random: any that is down. Source: given.")


class PartitionSection(FaultSection):
    """Cuts the network."""

    do: Literal["partition"] = key(description="Source: given.")
    groups: list[list[Any]] | None = key(
        default=None,
        description="Stores by id, other nodes by name (tidb-0, pd), that hear each other but no "
        "other group; nodes in no group hear all. Source: given.",
        min_length=2,
        max_length=100,
    )
    isolate: StoreField | None = key(
        default=None, description="A store that hears nobody. Source: given."
    )

    @field_validator("groups")
    @classmethod
    def _are_nodes(cls, groups: list[list[Any]] | None) -> Any:
        if groups is None:
            return None
        named = tuple(tuple(_node_name(node) for node in group) for group in groups)
        nodes = [node for group in named for node in group]
        for node in nodes:
            if nodes.count(node) > 1:
                raise wrong(f"{node} is there twice; a node is in one group")
        return named

    @model_validator(mode="after")
    def _cuts_in_one_way(self) -> Self:
        if (self.groups is None) == (self.isolate is None):
            raise wrong("needs one of groups: [[1], [2, 3]] and isolate: 1; write one of the two")
        return self


def _node_name(node: object) -> str:
    if isinstance(node, int) and not isinstance(node, bool) and node >= 1:
        return f"store-{node}"
    if isinstance(node, str) and re.fullmatch(r"(store|tidb)-\d{1,4}|pd", node):
        return node
    raise wrong(f"{shown(node)} is no node; write a store's id, tidb-0 or pd")
