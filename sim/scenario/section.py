"""Sections: mappings of known keys. A section is declared once, and is its own resolved value.

::

    @dataclass(frozen=True, kw_only=True)
    class Run(Section):
        measure_ns: int = Duration("1ms", "24h").key("How long. Source: ...", default="30s")

The file says ``measure: 30s``, the simulation reads ``run.measure_ns``; ``run.document()`` is what
the file would say. A field without a key is filled in later, from other sections.

What is wrong with a section is found in one pass, unknown keys beside wrong values; what its keys
say together (``check``) is judged once each of them is right.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import Field, dataclass, fields, replace
from inspect import cleandoc, get_annotations
from typing import Any, ClassVar, Final, Self, TypeVar

from sim.scenario.fields import (
    NO_MAPPING,
    REQUIRED,
    ByVersion,
    Form,
    Key,
    Schema,
    Wrong,
)
from sim.scenario.problems import shown, suggestion
from sim.scenario.tree import WRONG, Node, Place

Document = dict[str, Any]

_S = TypeVar("_S", bound="Section")
_UNITS = ("_ns", "_per_s", "_bytes")

BY_RELEASE: Final = " Default: "
"""Stands in a schema between a key's description and a default that changed."""


class Section:
    """A mapping of known keys; a subclass is a frozen dataclass of keys."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    MAKES: ClassVar[Any] = None
    """The class of a lower layer that the section's value is, by the names of its fields."""

    @classmethod
    def made(cls, values: Mapping[str, Any]) -> Self:
        """Returns the section with the values of its keys, by field and note."""
        own = {each.name for each in fields(cls) if each.init}
        return cls(**{name: value for name, value in values.items() if name in own})

    def check(self) -> None:
        """Judges what the keys say together.

        Raises:
            Wrong: if they contradict each other.
        """

    def resolved(self) -> Any:
        """Returns what stands for the section in a scenario."""
        if self.MAKES is None:
            return self
        names = [name for name in self.MAKES.__dataclass_fields__ if hasattr(self, name)]
        return self.MAKES(**{name: getattr(self, name) for name in names})

    @classmethod
    def document_of(cls, value: Any) -> Document:
        """Returns what a file says for a value; where it is None, ``auto`` or nothing."""
        document = {}
        for key in keys_of(cls).values():
            own = None if key.is_note else getattr(value, key.field)
            if own is not None:
                document[key.name] = key.form.written(own)
            elif key.form.auto:
                document[key.name] = "auto"
        return document

    def document(self) -> Document:
        """Returns what a file says for this section."""
        return self.document_of(self)


def name_of(field: str) -> str:
    """Returns the key that a field is written as: its name without the unit.

    Python's own words have a _ behind them.
    """
    for unit in _UNITS:
        field = field.removesuffix(unit)
    return field.rstrip("_")


def keys_of(section: type[Section]) -> Mapping[str, Key]:
    """Returns the keys of a section by their names in a file, inherited ones first."""
    known = _KEYS.get(section)
    if known is not None:
        return known
    found: dict[str, Key] = {}
    for owner in reversed(section.__mro__):
        declared = owner.__dict__.get("__dataclass_fields__", {})
        for field in get_annotations(owner):
            note = getattr(owner, field, None)
            is_note = isinstance(note, Key)
            key = note if is_note or field not in declared else declared[field].metadata.get("key")
            if isinstance(key, Key):
                name = key.name or name_of(field)
                found[field] = replace(key, name=name, field=field, is_note=is_note)
    _KEYS[section] = {key.name: key for key in found.values()}
    return _KEYS[section]


_KEYS: dict[type[Section], dict[str, Key]] = {}


@dataclass(frozen=True)
class SectionOf(Form):
    """The keys of a section."""

    section: type[Section]

    def read(self, place: Place) -> Any:
        """Returns the section's value."""
        section = read_section(self.section, place)
        return WRONG if section is None else section.resolved()

    def written(self, value: Any) -> Document:
        """Returns what a file says for the section's value."""
        return self.section.document_of(value)

    def described(self, definitions: dict[str, Schema]) -> Schema:
        """Returns a reference to the section."""
        name = self.section.__name__
        if name not in definitions:
            definitions[name] = {}
            definitions[name] |= _definition(self.section, definitions)
        return {"$ref": f"#/$defs/{name}"}


def _definition(section: type[Section], definitions: dict[str, Schema]) -> Schema:
    keys = keys_of(section)
    required = [name for name, key in keys.items() if key.default is REQUIRED]
    described: Schema = {
        "title": section.__name__,
        "description": cleandoc(section.__doc__ or ""),
        "type": "object",
        "properties": {name: property_schema(key, definitions) for name, key in keys.items()},
        "additionalProperties": False,
    }
    return described | ({"required": required} if required else {})


def property_schema(key: Key, definitions: dict[str, Schema]) -> Schema:
    """Returns the JSON Schema of a key."""
    form = key.form.described(definitions)
    default = None if isinstance(key.default, ByVersion) else key.default
    if default is None:
        form = {"anyOf": [*form.get("anyOf", [form]), {"type": "null"}]}
    if not isinstance(key.form, SectionOf):
        form = {"title": key.name.title().replace("_", " ")} | form
    if default not in (REQUIRED, {}):
        form |= {"default": default}
    by_release = f"{BY_RELEASE}{key.default}" if isinstance(key.default, ByVersion) else ""
    return form | {"description": key.description + by_release}


def validated(section: type[_S], place: Place) -> _S | None:
    """Returns the section at a place, or None after noting its problems."""
    if place.value is None:
        place = replace(place, node=place.node.with_value({}))
    content = (section, repr(_content(place.node)))
    known = _valid.get(content)
    if isinstance(known, section):
        return known
    before = len(place.problems)
    found = read_section(section, place)
    if found is not None and len(place.problems) == before:
        if len(_valid) >= _MOST_REMEMBERED:
            _valid.clear()
        _valid[content] = found
    return found


_valid: dict[tuple[type[Section], str], Section] = {}
"""Sections without a problem, by content: most cases of a study differ in one of them."""

_MOST_REMEMBERED = 2_000


def _content(node: Node) -> Any:
    """Returns a value without marks, keys without a value included."""
    if isinstance(node.value, dict):
        return {key: _content(child) for key, child in node.value.items()}
    if isinstance(node.value, list):
        return [_content(child) for child in node.value]
    return node.value


def read_section(section: type[_S], place: Place) -> _S | None:
    """Returns the section at a place, or None after noting its problems."""
    keys = keys_of(section)
    if not isinstance(place.value, dict):
        place.refuse(NO_MAPPING.format(shown(place.node.plain()), _outline(keys)))
        return None
    values = _read_keys(keys, place)
    if WRONG in values.values():
        return None
    try:
        made = section.made(values)
        made.check()
    except Wrong as error:
        _refuse_contradiction(error, keys, place)
        return None
    return made


def _outline(keys: Mapping[str, Key]) -> str:
    """Returns what has to be written, or what may be written first."""
    required = [name for name, key in keys.items() if key.default is REQUIRED]
    return ", ".join(f"{name}: …" for name in required or [next(iter(keys))])


def _read_keys(keys: Mapping[str, Key], place: Place) -> dict[str, Any]:
    """Returns values by field, ``WRONG`` for keys with problems and those that are missing."""
    values = {}
    for name, each in place.below().items():
        if name not in keys:
            refuse_unknown(each, suggestion(name, list(keys)))
        elif each.value is not None:
            values[keys[name].field] = keys[name].form.read(each)
    for name, key in keys.items():
        if key.default is REQUIRED and key.field not in values:
            values[key.field] = place[name].refuse_key(key.missing)
    return values


def refuse_unknown(place: Place, remedy: str) -> None:
    """Notes a key that nothing reads."""
    place.refuse_key(f"unknown key; {remedy}")


def _refuse_contradiction(error: Wrong, keys: Mapping[str, Key], place: Place) -> None:
    """Notes keys that do not go together, at the deepest place that is written."""
    for step in [error.at] if error.at in keys else re.findall(r"[^.\[\]]+", error.at):
        part = int(step) if step.isdigit() else step
        if place.node.find((part,)) is None:
            place.refuse_key(str(error))
            return
        place = place[part]
    place.refuse(str(error))
