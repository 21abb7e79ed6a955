"""How a region or a store is named in an operation, both ways: from text and back.

A region: its id, ``hottest``, ``random``, ``{table: acct}``, ``{table: acct, row: 70}`` or
``{key: 7480...}``, the key in hex as tikv-ctl prints it. A store: its id, ``random``, ``each``
where all stores get their turn, or ``{leader_of: hottest}``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from sim.scenario.fields import Form, Schema, Wrong
from sim.scenario.problems import shown, suggestion

_REGION_FORMS = "write an id, hottest, random, {table: name, row: 1} or {key: hex}"
_MOST = 2**53 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionTarget:
    """A region that an operation is about, chosen when it is carried out."""

    by: Literal["id", "key", "table", "hottest", "random"]
    region_id: int = 0
    key: str = ""
    """In hex."""
    table: str = ""
    row: int | None = None
    """The region is the one with this row, counted from 1 in key order; None: with the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreTarget:
    """A store that an operation is about, chosen when it is carried out."""

    by: Literal["id", "random", "each", "leader_of"]
    store: int = 0
    region: RegionTarget | None = None


def _is_id(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _MOST


@dataclass(frozen=True)
class RegionForm(Form):
    """A region target."""

    def parse(self, value: object) -> RegionTarget:
        """Returns the target."""
        if isinstance(value, dict):
            return self._by_keys(value)
        if isinstance(value, int) and _is_id(value):
            return RegionTarget(by="id", region_id=value)
        if value == "hottest":
            return RegionTarget(by="hottest")
        if value == "random":
            return RegionTarget(by="random")
        raise Wrong(f"{shown(value)} names no region; {_remedy(value, ['hottest', 'random'])}")

    def _by_keys(self, value: dict[str, Any]) -> RegionTarget:
        for name in value:
            if name not in ("key", "table", "row"):
                remedy = suggestion(name, ["table", "row", "key"])
                raise Wrong(f"unknown key {shown(name)}; {remedy}")
        if set(value) == {"key"}:
            return RegionTarget(by="key", key=_hex(value["key"]))
        if "key" in value or not isinstance(value.get("table"), str):
            raise Wrong(f"a region has a table or a key; {_REGION_FORMS}")
        row = value.get("row")
        if row is not None and not _is_id(row):
            raise Wrong(f"row must be a whole number, is {shown(row)}; write 1 or more")
        return RegionTarget(by="table", table=value["table"], row=row)

    def written(self, value: RegionTarget) -> Any:
        """Returns what a file says for a target."""
        match value:
            case RegionTarget(by="id", region_id=region_id):
                return region_id
            case RegionTarget(by="key", key=key):
                return {"key": key}
            case RegionTarget(by="table", table=table, row=row):
                return {"table": table} if row is None else {"table": table, "row": row}
            case _:
                return value.by

    def described(self, _: dict[str, Schema]) -> Schema:
        """Returns all forms."""
        properties = {
            "table": {"type": "string"},
            "row": {"type": "integer", "minimum": 1},
            "key": {"type": "string", "pattern": "^([0-9a-fA-F]{2})+$"},
        }
        return {"anyOf": [
            {"type": "integer", "minimum": 1},
            {"enum": ["hottest", "random"]},
            {"type": "object", "properties": properties, "additionalProperties": False},
        ]}  # fmt: skip


def _remedy(value: object, words: list[str]) -> str:
    remedy = suggestion(value, words) if isinstance(value, str) else ""
    return remedy if remedy.startswith("did you mean") else _REGION_FORMS


def _hex(value: object) -> str:
    text = str(value)
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if not key or not isinstance(value, str):
        raise Wrong(
            f"{shown(value)} is not a key; write it in hex and in quotes, such as '74800000'"
        )
    return key.hex()


REGION: Final = RegionForm()


@dataclass(frozen=True)
class StoreForm(Form):
    """A store target."""

    each: bool = False
    """Whether all stores may get their turn."""

    def parse(self, value: object) -> StoreTarget:
        """Returns the target."""
        if isinstance(value, int) and _is_id(value):
            return StoreTarget(by="id", store=value)
        if value == "random":
            return StoreTarget(by="random")
        if value == "each" and self.each:
            return StoreTarget(by="each")
        if isinstance(value, dict) and set(value) == {"leader_of"}:
            return StoreTarget(by="leader_of", region=REGION.parse(value["leader_of"]))
        words = ", each" if self.each else ""
        raise Wrong(f"{shown(value)} names no store; write an id, random{words} or "
                    "{leader_of: hottest}")  # fmt: skip

    def written(self, value: StoreTarget) -> Any:
        """Returns what a file says for a target."""
        if value.region is not None:
            return {"leader_of": REGION.written(value.region)}
        return value.store if value.by == "id" else value.by

    def described(self, definitions: dict[str, Schema]) -> Schema:
        """Returns all forms."""
        leader_of = {
            "type": "object",
            "properties": {"leader_of": REGION.described(definitions)},
            "additionalProperties": False,
        }
        words = ["random", "each"] if self.each else ["random"]
        return {"anyOf": [{"type": "integer", "minimum": 1}, {"enum": words}, leader_of]}


STORE: Final = StoreForm()
STORES: Final = StoreForm(each=True)
