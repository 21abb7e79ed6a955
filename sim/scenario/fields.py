"""What keys of a scenario take: how a value is read, written again, and described to editors.

Each form knows its unit and range, and its messages say how to fix a value. Ranges are written as
users write quantities, so a message can quote them. Upper ends are not opinions about good values:
beyond them a simulation would not end, or a typing error is more likely than the value.

``form.key(...)`` declares a key: a field of a ``Section``, which is a frozen dataclass.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from sim.scenario.problems import Mark, shown, suggestion
from sim.scenario.quantities import (
    BANDWIDTH,
    DURATION,
    PERCENT,
    RATE,
    SIZE,
    QuantityError,
    QuantityKind,
)
from sim.scenario.tree import WRONG, Place, node_of
from sim.scenario.versions import Version, release_version

_T = TypeVar("_T")

Schema = dict[str, Any]

REQUIRED: Final = object()
"""The default of a key that must be given."""


@dataclass(frozen=True, kw_only=True)
class ByVersion:
    """A default that changed, as users would write it; it is filled in once the version is known.

    Attributes:
        first: what it was in the oldest version.
        since: what it became, by release, in their order.
    """

    first: Any
    since: Mapping[str, Any]

    def __str__(self) -> str:
        """Returns what it was at first and what it became, such as 0, since v8.0 1."""
        since = (f"since {release} {_code(value)}" for release, value in self.since.items())
        return ", ".join([_code(self.first), *since])


def _code(value: object) -> str:
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


MISSING: Final = "missing; write it"
NO_MAPPING: Final = "must be a mapping, is {}; write {{{}}}"
_NO_LIST: Final = "must be a list, is {}; write [value, value]"
_SWEPT: Final = frozenset({"cluster", "hardware", "tikv", "workload"})
"""Sections in which who writes a list for a value means a sweep."""
_SEVERAL: Final = ", or several values under sweep.grid"


class Wrong(ValueError):
    """A value that a key does not take; the text says how to fix it."""

    def __init__(self, message: str, *, at: str = "") -> None:
        """Args: ``at`` is a key below the place that raises it."""
        super().__init__(message)
        self.at = at


class Form:
    """The values that a key takes. A form of one value has ``parse``, others their own ``read``."""

    auto = False
    """Whether the word ``auto`` is allowed as well; it becomes None."""

    def parse(self, value: object) -> Any:
        """Returns the value that a scenario keeps.

        Raises:
            Wrong: if it is none of this form.
        """
        raise NotImplementedError

    def read(self, place: Place) -> Any:
        """Returns the value at a place, or ``WRONG`` after noting its problems."""
        try:
            return self.parse(place.node.plain())
        except Wrong as error:
            several = isinstance(place.value, list) and place.path[0] in _SWEPT
            return place.refuse(f"{error}{_SEVERAL if several else ''}")

    def written(self, value: Any) -> Any:
        """Returns what a file says for a value that was read."""
        return value

    def described(self, definitions: dict[str, Schema]) -> Schema:
        """Returns the JSON Schema; sections that it refers to are added to the definitions."""
        raise NotImplementedError

    def key(self, description: str = "", *, default: Any = REQUIRED, name: str = "") -> Any:
        """Returns a field of a section that is declared as a key.

        Args:
            description: what it means; "Source:" and where its default is from. Without a source
                the value is the user's own, and the description says that it is given.
            default: as users would write it; without one the key must be given. A field whose
                default changed is None until it is filled in.
            name: in the file, where it is not the field's name without its unit.
        """
        said = {"key": self.note(description, default=default, name=name)}
        if default is REQUIRED:
            return field(metadata=said)
        made = None if isinstance(default, ByVersion) else self.read_default(default)
        return field(default=made, metadata=said)

    def note(self, description: str = "", *, default: Any = REQUIRED, name: str = "") -> Key:
        """Returns a key that is read and checked, and is no part of the section's value."""
        if "Source:" not in description:
            description = f"{description} Source: given.".lstrip()
        return Key(self, description, default, name)

    def read_default(self, default: Any) -> Any:
        """Returns the value of a default that is written as users would write it."""
        if default is None or (self.auto and default == "auto"):
            return None
        place = Place(node_of(default, Mark("default")), (), [])
        value = self.read(place)
        assert not place.problems, place.problems
        return value


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a section, as it is declared."""

    form: Form
    description: str
    default: Any
    name: str = ""
    """In the file."""
    field: str = ""
    """In Python: the name in the file with the unit behind it."""
    is_note: bool = False

    def default_in(self, version: Version) -> Any:
        """Returns the value that a default which changed has in a version of TiKV."""
        assert isinstance(self.default, ByVersion), f"{self.name} has always had one default"
        default = self.default.first
        for release, became in self.default.since.items():
            if version >= release_version(release):
                default = became
        return self.form.read_default(default)

    @property
    def missing(self) -> str:
        """The problem where it has to be given and is not: says its words, or what it means."""
        if isinstance(self.form, OneOf):
            return f"missing; use one of {', '.join(self.form.words)}"
        if isinstance(self.form, MapOf):
            return f"missing; write {{{self.form.example}}}"
        meaning = meaning_and_source(self.description)[0].rstrip(".")
        return f"{MISSING}: {meaning[:1].lower()}{meaning[1:]}" if meaning else MISSING


def meaning_and_source(description: str) -> tuple[str, str]:
    """Splits a key's description; the source is empty where the user gives the value."""
    meaning, _, source = description.partition("Source:")
    source = source.strip().removesuffix(".")
    return meaning.strip(), "" if source == "given" else source


@dataclass(frozen=True)
class Quantity(Form):
    """A quantity between two others, both allowed."""

    kind: QuantityKind
    at_least: str
    at_most: str
    auto: bool = False

    def parse(self, value: object) -> Any:
        """Returns the quantity in its base unit."""
        if self.auto and value == "auto":
            return None
        try:
            amount = self.kind.parse(value)
        except QuantityError as error:
            extra = " or auto" if self.auto else ""
            raise Wrong(f"{error}{extra}") from None
        if amount < self.kind.parse(self.at_least):
            raise Wrong(f"{value} is too small; write {self.at_least} or more")
        if amount > self.kind.parse(self.at_most):
            raise Wrong(f"{value} is too large; write {self.at_most} or less")
        return amount

    def written(self, value: Any) -> str:
        """Returns the quantity with its unit."""
        return self.kind.text_of(value)

    def described(self, _: dict[str, Schema]) -> Schema:
        """Returns text with one of the kind's units."""
        units = "|".join(re.escape(unit) for unit in self.kind.units)
        pattern = rf"[-+]?[0-9.]+([eE][-+]?[0-9]+)?\s*({units})"
        if self.auto:
            pattern = f"(auto|{pattern})"
        return {"type": "string", "pattern": f"^{pattern}$",
                "title": f"{self.kind.name}, {self.at_least} to {self.at_most}"}  # fmt: skip


def Duration(at_least: str, at_most: str, *, auto: bool = False) -> Quantity:  # noqa: N802
    """Returns a form of durations; the least one's unit says which units to propose."""
    kind = _SHORT_TIMES if at_least in ("0ns", "0us") else DURATION
    return Quantity(kind, at_least, at_most, auto)


_SHORT_TIMES: Final = DURATION.proposing("us", "ms")
"""Of latencies and costs of work."""


def Size(at_least: str, at_most: str) -> Quantity:  # noqa: N802
    """Returns a form of sizes."""
    return Quantity(SIZE, at_least, at_most)


@dataclass(frozen=True)
class Count(Form):
    """A whole number between two others, both allowed."""

    at_least: int
    at_most: int
    auto: bool = False

    def parse(self, value: object) -> int | None:
        """Returns the number."""
        if self.auto and value == "auto":
            return None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            extra = " or auto" if self.auto else ""
            meant, ends = _number_in(value), f"{self.at_least} to {self.at_most}"
            if meant is not None and meant.is_integer() and self._allows(meant):
                ends = f"{meant:.0f}"
            raise Wrong(f"must be a whole number{extra}, is {shown(value)}; write {ends}")
        if not self._allows(value):
            raise Wrong(f"must be {self.at_least} to {self.at_most}, is {shown(value)}; change it")
        return value

    def _allows(self, number: float) -> bool:
        return self.at_least <= number <= self.at_most

    def described(self, _: dict[str, Schema]) -> Schema:
        """Returns an integer with both ends."""
        number = {"type": "integer", "minimum": self.at_least, "maximum": self.at_most}
        return {"anyOf": [number, {"const": "auto"}]} if self.auto else number


_AMOUNT: Final = re.compile(r"([-+]?\d+(?:\.\d+)?) ?([A-Za-z/]*)")
_TIMES: Final = {"": 1, "k": 1_000, "M": 1_000_000}


def _number_in(value: object) -> float | None:
    """Returns the number of a text such as ``'4'`` or ``50k``; None of all else, as ``5ms``."""
    found = _AMOUNT.fullmatch(value) if isinstance(value, str) else None
    if found is None or found[2] not in _TIMES:
        return None
    return float(found[1]) * _TIMES[found[2]]


@dataclass(frozen=True)
class Number(Form):
    """A number without a unit between two others, both allowed."""

    at_least: float
    at_most: float

    def parse(self, value: object) -> float:
        """Returns the number."""
        if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
            raise Wrong(f"must be a number, is {shown(value)}; write {self._meant(value)}")
        if not self.at_least <= value <= self.at_most:
            raise Wrong(f"must be {self.at_least:g} to {self.at_most:g}, is {shown(value)}; "
                        "change it")  # fmt: skip
        return float(value)

    def _meant(self, value: object) -> str:
        """Returns what to write: the share of a percentage, a text's number, or between what."""
        ends = f"{self.at_least:g} to {self.at_most:g}"
        try:
            meant: float | None = PERCENT.parse_text(str(value))
        except QuantityError:
            meant = _number_in(value)
        if meant is not None:
            return f"{meant:g}" if self.at_least <= meant <= self.at_most else ends
        has_unit = isinstance(value, str) and _AMOUNT.fullmatch(value)
        return f"it without a unit, {ends}" if has_unit else ends

    def described(self, _: dict[str, Schema]) -> Schema:
        """Returns a number with both ends."""
        return {"type": "number", "minimum": self.at_least, "maximum": self.at_most}


@dataclass(frozen=True)
class _Switch(Form):
    """True or false, or TiDB's ON and OFF."""

    def parse(self, value: object) -> bool:
        """Returns the truth value."""
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in ("on", "off"):
            return value.lower() == "on"
        raise Wrong(f"must be true or false, is {shown(value)}; write one of the two")

    def described(self, _: dict[str, Schema]) -> Schema:
        """Returns a boolean, or one of TiDB's words."""
        return {"anyOf": [{"type": "boolean"}, {"enum": ["ON", "OFF", "on", "off"]}]}


@dataclass(frozen=True)
class _Words(Form):
    """Text for people, or a name."""

    longest: int
    pattern: str
    remedy: str

    def parse(self, value: object) -> str:
        """Returns the text, without space around it."""
        if not isinstance(value, str):
            raise Wrong(f"must be text, is {shown(value)}; put it in quotes")
        text = value.strip()
        if not text or len(text) > self.longest or not re.fullmatch(self.pattern, text, re.DOTALL):
            raise Wrong(f"{shown(text)} cannot be used; {self.remedy}")
        return text

    def described(self, _: dict[str, Schema]) -> Schema:
        """Returns a string with its pattern."""
        described = {"type": "string", "minLength": 1, "maxLength": self.longest}
        return described if self.pattern == ".*" else described | {"pattern": f"^{self.pattern}$"}


@dataclass(frozen=True)
class _Version(Form):
    """A version of TiKV, ``6.0.0``."""

    def parse(self, value: object) -> str:
        """Returns the version without a leading v."""
        text = str(value).strip().removeprefix("v")
        if not isinstance(value, str) or not re.fullmatch(r"\d{1,3}(\.\d{1,3}){2}", text):
            raise Wrong(f"must be a version, is {shown(value)}; write three numbers, such as 6.0.0")
        return text

    def described(self, _: dict[str, Schema]) -> Schema:
        """Returns text of three numbers."""
        return {"type": "string", "pattern": r"^v?[0-9]+\.[0-9]+\.[0-9]+$"}


@dataclass(frozen=True)
class _Versions(_Version):
    """One version for all, or one for each."""

    def parse(self, value: object) -> Any:
        """Returns a version, or a tuple of them."""
        one = super().parse
        return tuple(map(one, value)) if isinstance(value, list) else one(value)

    def written(self, value: tuple[str, ...]) -> str | list[str]:
        """Returns one version for all where they agree, however many there will be."""
        return value[0] if len(set(value)) == 1 else list(value)

    def described(self, definitions: dict[str, Schema]) -> Schema:
        """Returns a version or a list."""
        one = super().described(definitions)
        return {"anyOf": [one, {"type": "array", "items": one}]}


_FEW: Final = 5


class OneOf(Form):
    """One of some words."""

    def __init__(self, *words: str) -> None:
        self.words = words

    def parse(self, value: object) -> str:
        """Returns the word."""
        if isinstance(value, str) and value in self.words:
            return value
        few = f"use one of {', '.join(self.words)}"  # better than a guess: v7.5 is not v8.5
        near = few if len(self.words) <= _FEW else suggestion(str(value), self.words)
        raise Wrong(f"{shown(value)} is none of its values; {near}")

    def described(self, _: dict[str, Schema]) -> Schema:
        """Returns the words."""
        said = {"const": self.words[0]} if len(self.words) == 1 else {"enum": list(self.words)}
        return said | {"type": "string"}


class _Anything(Form):
    """Any value, which is judged elsewhere."""

    def parse(self, value: object) -> object:
        """Returns it as it is written."""
        return value

    def described(self, _: dict[str, Schema]) -> Schema:
        """Returns no restriction."""
        return {}


@dataclass(frozen=True)
class ListOf(Form):
    """A list; it becomes a tuple."""

    form: Form
    at_least: int = 0
    at_most: int | None = None
    together: Callable[[tuple[Any, ...]], tuple[Any, ...]] = tuple
    """Judges the elements beside each other, and says what becomes of them."""

    def read(self, place: Place) -> Any:
        """Returns all elements, each judged by itself."""
        if not isinstance(place.value, list):
            return place.refuse(_NO_LIST.format(shown(place.node.plain())))
        entries = place.below().values()
        values = [self.form.read(each) for each in _within(self.at_most, entries)]
        if WRONG in values or not _has_room(self, place, len(entries)):
            return WRONG
        try:
            return self.together(tuple(values))
        except Wrong as error:
            return place.refuse(str(error))

    def written(self, value: Any) -> list[Any]:
        """Returns the elements as a file says them."""
        return [self.form.written(each) for each in value]

    def described(self, definitions: dict[str, Schema]) -> Schema:
        """Returns an array."""
        described = {"type": "array", "items": self.form.described(definitions)}
        return described | _bounds(self, "Items")


@dataclass(frozen=True)
class PairOf(Form):
    """A list of exactly two values, each of its own form."""

    first: Form
    second: Form

    def read(self, place: Place) -> Any:
        """Returns both."""
        if not isinstance(place.value, list):
            return place.refuse(_NO_LIST.format(shown(place.node.plain())))
        given = len(place.value)
        if given > 2:
            return place.refuse("has too many entries; write 2 or less")
        values = [
            form.read(place[at]) if at < given else place[at].refuse_key(MISSING)
            for at, form in enumerate((self.first, self.second))
        ]
        return WRONG if WRONG in values else tuple(values)

    def written(self, value: Any) -> list[Any]:
        """Returns both as a file says them."""
        return [self.first.written(value[0]), self.second.written(value[1])]

    def described(self, definitions: dict[str, Schema]) -> Schema:
        """Returns an array of two."""
        items = [each.described(definitions) for each in (self.first, self.second)]
        return {"type": "array", "prefixItems": items, "minItems": 2, "maxItems": 2}


@dataclass(frozen=True)
class MapOf(Form):
    """A mapping whose keys are not known beforehand."""

    form: Form
    names: Form | None = None
    """Of the keys; None: any text."""
    example: str = "name: value"
    at_least: int = 0
    at_most: int | None = None

    def read(self, place: Place) -> Any:
        """Returns all entries that have a value."""
        if not isinstance(place.value, dict):
            return place.refuse(NO_MAPPING.format(shown(place.node.plain()), self.example))
        given = {name: each for name, each in place.below().items() if each.value is not None}
        values = {}
        for name, each in _within(self.at_most, given.items()):
            word = self._name(name, each)
            values[word] = self.form.read(each)
        if WRONG in (*values, *values.values()):
            return WRONG
        return values if _has_room(self, place, len(given)) else WRONG

    def _name(self, name: str, place: Place) -> Any:
        try:
            return name if self.names is None else self.names.parse(name)
        except Wrong as error:
            return place.refuse_key(str(error))

    def written(self, value: Mapping[Any, Any]) -> dict[str, Any]:
        """Returns the entries as a file says them."""
        return {str(name): self.form.written(each) for name, each in value.items()}

    def described(self, definitions: dict[str, Schema]) -> Schema:
        """Returns an object."""
        of = self.form.described(definitions)
        of.pop("title", None)
        described = {"type": "object"} | _bounds(self, "Properties")
        if self.names is None:
            return described | {"additionalProperties": of or True}
        names = self.names.described(definitions)
        lengths = {word: names[word] for word in ("minLength", "maxLength") if word in names}
        more = {"propertyNames": lengths} if lengths else {}
        return described | more | {"patternProperties": {names["pattern"]: of}}


def _within(at_most: int | None, entries: Iterable[_T]) -> Iterable[_T]:
    """Returns the entries, none if there are too many: those need not be judged one by one."""
    entries = list(entries)
    return entries if at_most is None or len(entries) <= at_most else ()


def _has_room(form: ListOf | MapOf, place: Place, entries: int) -> bool:
    """Returns whether there are neither too few nor too many entries; says so if not."""
    if entries < form.at_least:
        one = form.at_least == 1
        message = "is empty; write at least one" if one else (
            f"has too few entries; write at least {form.at_least}"
        )  # fmt: skip
    elif form.at_most is not None and entries > form.at_most:
        message = f"has too many entries; write {form.at_most} or less"
    else:
        return True
    place.refuse(message)
    return False


def _bounds(form: ListOf | MapOf, what: str) -> Schema:
    least = {f"min{what}": form.at_least} if form.at_least else {}
    return least | ({} if form.at_most is None else {f"max{what}": form.at_most})


NAME_PATTERN: Final = r"[A-Za-z_][A-Za-z0-9_-]*"

SWITCH: Final = _Switch()
TEXT: Final = _Words(4_000, ".*", "write 1 to 4000 characters")
NAME: Final = _Words(60, NAME_PATTERN, "use letters, digits, _ and -, a letter first")
VERSION: Final = _Version()
VERSIONS: Final = _Versions()
ANYTHING: Final = _Anything()
SHARE: Final = Number(0, 1)
LATENCY: Final = Duration("0ns", "60s")
COST: Final = Duration("0ns", "1s")
TIMEOUT: Final = Duration("0s", "24h")
PORT: Final = Quantity(BANDWIDTH, "100KB/s", "1TB/s")
LOAD: Final = Quantity(RATE, "0.01/s", "10000000/s")
LIMIT: Final = Size("0B", "1TiB")
WIDTH: Final = Quantity(PERCENT, "0.01%", "100%")
