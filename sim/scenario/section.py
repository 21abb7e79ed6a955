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
from typing import Any, ClassVar, Self, TypeVar

from sim.scenario.fields import REQUIRED, WRONG, Form, Key, Problems, Schema, Wrong
from sim.scenario.problems import Problem, shown, suggestion
from sim.scenario.tree import Node, Path, dotted

Document = dict[str, Any]

_S = TypeVar("_S", bound="Section")
_UNITS = ("_ns", "_per_s", "_bytes")


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

    def read(self, node: Node, path: Path, problems: Problems) -> Any:
        """Returns the section's value."""
        section = read_section(self.section, node, path, problems)
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
    if key.default is None:
        form = {"anyOf": [*form.get("anyOf", [form]), {"type": "null"}]}
    if not isinstance(key.form, SectionOf):
        form = {"title": key.name.title().replace("_", " ")} | form
    if key.default not in (REQUIRED, {}):
        form |= {"default": key.default}
    return form | {"description": key.description}


def validated(tree: Node, path: Path, section: type[_S], problems: Problems) -> _S | None:
    """Returns the section at ``path``, or None after adding its problems."""
    node = tree.find(path) or Node({}, tree.mark, tree.mark)
    if node.value is None:
        node = node.with_value({})
    content = (section, repr(_content(node)))
    known = _valid.get(content)
    if isinstance(known, section):
        return known
    before = len(problems)
    found = read_section(section, node, path, problems)
    if found is not None and len(problems) == before:
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


def read_section(section: type[_S], node: Node, path: Path, problems: Problems) -> _S | None:
    """Returns the section at a node, or None after adding its problems."""
    if not isinstance(node.value, dict):
        message = f"must be a mapping, is {shown(node.plain())}; write {{key: value}}"
        problems.append(Problem(node.mark, dotted(path), message))
        return None
    keys = keys_of(section)
    values = _read_keys(keys, node.value, (node, path), problems)
    if WRONG in values.values():
        return None
    try:
        made = section.made(values)
        made.check()
    except Wrong as error:
        problems.append(_contradiction(error, keys, node, path))
        return None
    return made


def _read_keys(
    keys: Mapping[str, Key], given: Mapping[str, Node], at: tuple[Node, Path], problems: Problems
) -> dict[str, Any]:
    """Returns values by field, ``WRONG`` for keys with problems and those that are missing."""
    node, path = at
    values = {}
    for name, child in given.items():
        if name not in keys:
            problems.append(unknown_key(name, child, path, list(keys)))
        elif child.value is not None:
            values[keys[name].field] = keys[name].form.read(child, (*path, name), problems)
    for name, key in keys.items():
        if key.default is REQUIRED and key.field not in values:
            mark = given.get(name, node).key_mark
            problems.append(Problem(mark, dotted((*path, name)), "missing; write it"))
            values[key.field] = WRONG
    return values


def unknown_key(key: str, node: Node, path: Path, known: list[str]) -> Problem:
    """Returns the problem of a key that nothing reads."""
    message = f"unknown key; {suggestion(key, known)}"
    return Problem(node.key_mark, dotted((*path, key)), message)


def _contradiction(error: Wrong, keys: Mapping[str, Key], node: Node, path: Path) -> Problem:
    """Returns the problem of keys that do not go together, at the deepest place that is written."""
    parts = [error.at] if error.at in keys else re.findall(r"[^.\[\]]+", error.at)
    steps: Path = tuple(int(part) if part.isdigit() else part for part in parts)
    depth = len(steps)
    while depth and node.find(steps[:depth]) is None:
        depth -= 1
    there = node.find(steps[:depth]) or node
    mark = there.mark if depth == len(steps) else there.key_mark
    return Problem(mark, dotted((*path, *steps[:depth])), str(error))
