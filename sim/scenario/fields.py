"""Types of a schema's fields: how text becomes a value, within which range, and what else is said.

Each type is an annotation that both validates (with a message that says how to fix the value) and
describes itself in the JSON Schema. Ranges are written as users write quantities, so a message can
quote them. Upper ends are not opinions about good values: beyond them a simulation would not end,
or a typing error is more likely than the value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from types import NoneType
from typing import Annotated, Any, get_args

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, PydanticCustomError, PydanticUndefined, core_schema

from sim.scenario.problems import shown
from sim.scenario.quantities import (
    BANDWIDTH,
    DURATION,
    PERCENT,
    RATE,
    SIZE,
    QuantityError,
    QuantityKind,
)


def wrong(message: str, *, at: str = "") -> PydanticCustomError:
    """Returns an error for pydantic to collect; ``at`` is a key below the place that raises it."""
    return PydanticCustomError("scenario", "{message}", {"message": message, "at": at})


class Section(BaseModel):
    """A mapping of known keys; defaults are written, and validated, as users would write them."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        populate_by_name=False,
        validate_default=True,
        allow_inf_nan=False,
        arbitrary_types_allowed=True,
    )


def key(
    *,
    description: str = "",
    default: Any = PydanticUndefined,
    default_factory: Callable[[], Section] | None = None,
    alias: str | None = None,
    min_length: int | None = None,
    max_length: int | None = None,
) -> Any:
    """Returns a field of a section.

    Args:
        description: what it means; "Source:" and where its default is from. Without a source the
            value is the user's own, and the description says that it is given.
        default: as users would write it; without one the key must be given.
        default_factory: makes the default of a section.
        alias: the key in the file, where it is no Python name.
        min_length: of a list or a mapping.
        max_length: of a list or a mapping.
    """
    if "Source:" not in description:
        description = f"{description} Source: given.".lstrip()
    if default_factory is not None:
        return Field(default_factory=default_factory, description=description)
    return Field(
        default, alias=alias, description=description, min_length=min_length, max_length=max_length
    )


class ParsedField:
    """An annotation with a parser of its own."""

    def parse(self, value: object) -> Any:
        """Returns the value a model keeps, or raises ``wrong``."""
        raise NotImplementedError

    def described(self) -> dict[str, Any]:
        """Returns the JSON Schema."""
        raise NotImplementedError

    def __get_pydantic_core_schema__(
        self, _type: Any, _handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Validates with ``parse`` alone."""
        return core_schema.no_info_plain_validator_function(self.parse)

    def __get_pydantic_json_schema__(
        self, _schema: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Describes itself, since a parser says nothing about its input."""
        return self.described()


@dataclass(frozen=True)
class Quantity(ParsedField):
    """A quantity between two others, both allowed."""

    kind: QuantityKind
    at_least: str
    at_most: str
    auto: bool = False
    """Whether the word ``auto`` is allowed as well; it becomes None."""

    def parse(self, value: object) -> int | float | None:
        """Returns the quantity in its base unit."""
        if self.auto and value in ("auto", None):
            return None
        try:
            amount = self.kind.parse(value)
        except QuantityError as error:
            extra = " or auto" if self.auto else ""
            raise wrong(f"{error}{extra}") from None
        if amount < self.kind.parse(self.at_least):
            raise wrong(f"{value} is too little; write {self.at_least} or more")
        if amount > self.kind.parse(self.at_most):
            raise wrong(f"{value} is too much; write {self.at_most} or less")
        return amount

    def described(self) -> dict[str, Any]:
        """Returns text with one of the kind's units."""
        units = "|".join(re.escape(unit) for unit in self.kind.units)
        pattern = rf"[-+]?[0-9.]+([eE][-+]?[0-9]+)?\s*({units})"
        if self.auto:
            pattern = f"(auto|{pattern})"
        return {"type": "string", "pattern": f"^{pattern}$",
                "title": f"{self.kind.name}, {self.at_least} to {self.at_most}"}  # fmt: skip


def quantity_of(field: FieldInfo) -> Quantity | None:
    """Returns the quantity that a key takes, if it takes one."""
    parts = [part for part in get_args(field.annotation) if part is not NoneType]
    said = [
        *field.metadata,
        *(each for part in parts for each in getattr(part, "__metadata__", ())),
    ]
    return next((each for each in said if isinstance(each, Quantity)), None)


@dataclass(frozen=True)
class Count(ParsedField):
    """A whole number between two others, both allowed."""

    at_least: int
    at_most: int
    auto: bool = False
    """Whether the word ``auto`` is allowed as well; it becomes None."""

    def parse(self, value: object) -> int | None:
        """Returns the number."""
        if self.auto and value in ("auto", None):
            return None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            extra = " or auto" if self.auto else ""
            raise wrong(f"must be a whole number{extra}, is {shown(value)}; "
                        f"write {self.at_least} to {self.at_most}")  # fmt: skip
        if not self.at_least <= value <= self.at_most:
            raise wrong(f"must be {self.at_least} to {self.at_most}, is {shown(value)}; change it")
        return value

    def described(self) -> dict[str, Any]:
        """Returns an integer with both ends."""
        number = {"type": "integer", "minimum": self.at_least, "maximum": self.at_most}
        return {"anyOf": [number, {"const": "auto"}]} if self.auto else number


@dataclass(frozen=True)
class Number(ParsedField):
    """A number without a unit between two others, both allowed."""

    at_least: float
    at_most: float

    def parse(self, value: object) -> float:
        """Returns the number."""
        if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
            raise wrong(f"must be a number, is {shown(value)}; "
                        f"write {self.at_least:g} to {self.at_most:g}")  # fmt: skip
        if not self.at_least <= value <= self.at_most:
            raise wrong(f"must be {self.at_least:g} to {self.at_most:g}, is {shown(value)}; "
                        "change it")  # fmt: skip
        return float(value)

    def described(self) -> dict[str, Any]:
        """Returns a number with both ends."""
        return {"type": "number", "minimum": self.at_least, "maximum": self.at_most}


@dataclass(frozen=True)
class _Switch(ParsedField):
    """True or false, or TiDB's ON and OFF."""

    def parse(self, value: object) -> bool:
        """Returns the truth value."""
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in ("on", "off"):
            return value.lower() == "on"
        raise wrong(f"must be true or false, is {shown(value)}; write one of the two")

    def described(self) -> dict[str, Any]:
        """Returns a boolean, or one of TiDB's words."""
        return {"anyOf": [{"type": "boolean"}, {"enum": ["ON", "OFF", "on", "off"]}]}


@dataclass(frozen=True)
class _Words(ParsedField):
    """Text for people, or a name."""

    longest: int
    pattern: str
    remedy: str

    def parse(self, value: object) -> str:
        """Returns the text, without space around it."""
        if not isinstance(value, str):
            raise wrong(f"must be text, is {shown(value)}; put it in quotes")
        text = value.strip()
        if not text or len(text) > self.longest or not re.fullmatch(self.pattern, text, re.DOTALL):
            raise wrong(f"{shown(text)} cannot be used; {self.remedy}")
        return text

    def described(self) -> dict[str, Any]:
        """Returns a string with its pattern."""
        described = {"type": "string", "minLength": 1, "maxLength": self.longest}
        return described if self.pattern == ".*" else described | {"pattern": f"^{self.pattern}$"}


@dataclass(frozen=True)
class _Version(ParsedField):
    """A version of TiKV, ``6.0.0``."""

    def parse(self, value: object) -> str:
        """Returns the version without a leading v."""
        text = str(value).strip().removeprefix("v")
        if not isinstance(value, str) or not re.fullmatch(r"\d{1,3}(\.\d{1,3}){2}", text):
            raise wrong(f"must be a version, is {shown(value)}; write three numbers, such as 6.0.0")
        return text

    def described(self) -> dict[str, Any]:
        """Returns text of three numbers."""
        return {"type": "string", "pattern": r"^v?[0-9]+\.[0-9]+\.[0-9]+$"}


@dataclass(frozen=True)
class _Versions(_Version):
    """One version for all, or one for each."""

    def parse(self, value: object) -> Any:
        """Returns a version, or a list of them."""
        one = super().parse
        return [one(each) for each in value] if isinstance(value, list) else one(value)

    def described(self) -> dict[str, Any]:
        """Returns a version or a list."""
        one = super().described()
        return {"anyOf": [one, {"type": "array", "items": one}]}


NAME_PATTERN = r"[A-Za-z_][A-Za-z0-9_-]*"

Switch = Annotated[bool, _Switch()]
Text = Annotated[str, _Words(4_000, ".*", "write 1 to 4000 characters")]
Name = Annotated[str, _Words(60, NAME_PATTERN, "use letters, digits, _ and -, a letter first")]
Version = Annotated[str, _Version()]
Versions = Annotated[str | list[str], _Versions()]
Share = Annotated[float, Number(0, 1)]
Latency = Annotated[int, Quantity(DURATION, "0ns", "60s")]
Cost = Annotated[int, Quantity(DURATION, "0ns", "1s")]
Timeout = Annotated[int, Quantity(DURATION, "0ns", "24h")]
Bandwidth = Annotated[int, Quantity(BANDWIDTH, "100KB/s", "1TB/s")]
Rate = Annotated[float, Quantity(RATE, "0.01/s", "10000000/s")]
Limit = Annotated[int, Quantity(SIZE, "0B", "1TiB")]
Percent = Annotated[float, Quantity(PERCENT, "0.01%", "100%")]
