"""From the bytes of a file to a tree: safe YAML within limits, every problem with its place.

Law: a file is data. No tag makes an object, no alias makes a small file large (aliases are counted
as what they stand for), no nesting exhausts the stack, a key is said once, and one file holds one
document. What the limits forbid is refused before it costs time.
"""

from __future__ import annotations

import math
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from sim.scenario.problems import Mark, Problem, ScenarioError, shown
from sim.scenario.tree import Node
from sim.units import KIB, MIB

MOST_BYTES = MIB
DEEPEST = 24
MOST_VALUES = 20_000
"""Values in a file, those behind aliases counted each time."""
LONGEST_SCALAR = 16 * KIB

_TEXT_TAGS = ("!", "tag:yaml.org,2002:str")


def read_file(path: Path) -> Node:
    """Returns the tree of a YAML file.

    Raises:
        ScenarioError: if it cannot be read, is no YAML, or goes beyond a limit.
    """
    return read_text(_text_of(path), str(path))


def read_text(text: str, name: str, loader: Any = yaml.SafeLoader) -> Node:
    """Returns the tree of YAML text.

    Args:
        text: of a file.
        name: what problems call the file.
        loader: of PyYAML; the tests of messages are about the one in Python.

    Raises:
        ScenarioError: as ``read_file``.
    """
    node = read_value(text, name, loader)
    if not isinstance(node.value, dict):
        # What a file that is no scenario says may be nobody's business: only its kind is told.
        is_now = {type(None): "empty", list: "a list"}.get(type(node.value), "a single value")
        message = (
            f"a scenario is a mapping of sections, and this is {is_now}; "
            "write workload: {...} etc."
        )
        raise ScenarioError([Problem(node.mark, "", message)])
    return node


def read_value(text: str, name: str, loader: Any = yaml.SafeLoader) -> Node:
    """Returns the tree of YAML text that may be any value.

    Raises:
        ScenarioError: as ``read_file``.
    """
    tree = _Tree(name)
    node = Node(None, Mark(name), Mark(name))
    try:
        node = tree.document(_events(text, name, loader))
    except yaml.MarkedYAMLError as error:
        tree.problems.append(_syntax_problem(error, name))
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        column = error.position - text.rfind("\n", 0, error.position)
        code = ord(error.character) if isinstance(error.character, str) else error.character
        message = f"character U+{code:04X} is not allowed in YAML; save the file as text"
        raise _refuse(name, message, line, column) from None
    if tree.problems:
        raise ScenarioError(tree.problems)
    return node


def _refuse(name: str, message: str, line: int = 0, column: int = 0) -> ScenarioError:
    return ScenarioError([Problem(Mark(name, line, column), "", message)])


def _text_of(path: Path) -> str:
    name = str(path)
    try:
        status = os.stat(path)  # noqa: PTH116 - a Path refuses a null byte with another error
        if stat.S_ISDIR(status.st_mode):
            raise _refuse(name, "is a folder; name a scenario file in it")
        if not stat.S_ISREG(status.st_mode):
            raise _refuse(name, "is not a regular file; name a YAML file")
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise _refuse(name, "no such file; check its name") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _refuse(name, f"cannot be read ({reason}); check its name and permissions") from None
    if len(content) > MOST_BYTES:
        raise _refuse(name, "is larger than 1 MiB; a scenario has a few kilobytes")
    return _decoded(content, name)


_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_UTF_16_ZEROS = ([True, False, True, False], [False, True, False, True])
"""Which of the first four bytes are 0 in English text without a mark."""


def _decoded(content: bytes, name: str) -> str:
    if content.startswith(_UTF_16_MARKS) or [byte == 0 for byte in content[:4]] in _UTF_16_ZEROS:
        raise _refuse(name, "is UTF-16 text; save it as UTF-8")
    if b"\0" in content:
        raise _refuse(name, "is a binary file; a scenario is YAML text")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        begin = content.rfind(b"\n", 0, error.start) + 1
        column = len(content[begin : error.start].decode("utf-8-sig")) + 1
        message = f"byte 0x{content[error.start]:02x} is not UTF-8; save the file as UTF-8"
        raise _refuse(name, message, line, column) from None


def _events(text: str, name: str, loader: Any) -> Iterator[yaml.Event]:
    """Yields the parser's events and stops where a limit is reached.

    Raises:
        ScenarioError: at a limit.
    """
    depth = 0
    for count, event in enumerate(yaml.parse(text, Loader=loader)):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST:
            raise _at(event, name, f"more than {DEEPEST} levels deep; a scenario needs six")
        if count > 2 * MOST_VALUES:
            raise _at(event, name, f"more than {MOST_VALUES} values; split the study")
        yield event


def _at(event: yaml.Event, name: str, message: str) -> ScenarioError:
    return ScenarioError([Problem(_mark(name, event.start_mark), "", message)])


def _mark(name: str, mark: Any) -> Mark:
    return Mark(name, mark.line + 1, mark.column + 1)


def _syntax_problem(error: yaml.MarkedYAMLError, name: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    place = _mark(name, mark) if mark else Mark(name)
    what = error.problem or error.context or "cannot be understood"
    if "'\\t'" in what:
        return Problem(place, "", "a tab; YAML is indented with spaces")
    remedy = _REMEDIES.get(what, "check indentation, colons, brackets and quotes near here")
    return Problem(place, "", f"not YAML: {what}; {remedy}")


_REMEDIES = {
    "expected '<document start>', but found '<scalar>'": "write key: value, a section a line",
    "mapping values are not allowed here": "quote a text that contains ': ', or fix indentation",
    "could not find expected ':'": "write key: value, with a space after the colon",
}


class _Tree:
    """Builds nodes from events; one object reads one file."""

    def __init__(self, name: str) -> None:
        self.problems: list[Problem] = []
        self._name = name
        self._anchors: dict[str, tuple[Node, int]] = {}
        self._values = 0

    def document(self, events: Iterator[yaml.Event]) -> Node:
        """Returns the one document of a file."""
        top = Mark(self._name, 1, 1)
        node = Node(None, top, top)
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise _at(event, self._name, "a second document; one file is one scenario")
            elif isinstance(event, yaml.NodeEvent):
                node = self._node(event, events, None)
        return node

    def _problem(self, mark: Mark, message: str) -> None:
        self.problems.append(Problem(mark, "", message))

    def _node(
        self, event: yaml.NodeEvent, events: Iterator[yaml.Event], key_mark: Mark | None
    ) -> Node:
        mark = _mark(self._name, event.start_mark)
        key_mark = key_mark or mark
        self._count(1, event)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event, mark, key_mark)
        before = self._values
        node = Node(self._value(event, events, mark), mark, key_mark)
        if event.anchor is not None:
            self._anchors[event.anchor] = node, self._values - before + 1
        return node

    def _count(self, values: int, event: yaml.Event) -> None:
        self._values += values
        if self._values > MOST_VALUES:
            message = f"more than {MOST_VALUES} values once aliases are followed; use fewer"
            raise _at(event, self._name, message)

    def _alias(self, event: yaml.AliasEvent, mark: Mark, key_mark: Mark) -> Node:
        if event.anchor not in self._anchors:
            message = f"alias *{event.anchor} has no finished anchor before it; write the value out"
            self._problem(mark, message)
            return Node(None, mark, key_mark)
        node, values = self._anchors[event.anchor]
        self._count(values, event)
        return Node(node.value, node.mark, key_mark)

    def _value(
        self, event: yaml.NodeEvent, events: Iterator[yaml.Event], mark: Mark
    ) -> str | int | float | bool | dict[str, Node] | list[Node] | None:
        if isinstance(event, yaml.MappingStartEvent):
            self._refuse_tag(event.tag, mark, allowed=("tag:yaml.org,2002:map",))
            return self._mapping(events)
        if isinstance(event, yaml.SequenceStartEvent):
            self._refuse_tag(event.tag, mark, allowed=("tag:yaml.org,2002:seq",))
            return self._sequence(events)
        assert isinstance(event, yaml.ScalarEvent), f"unexpected {event}"
        self._refuse_tag(event.tag, mark, allowed=_TEXT_TAGS)
        if len(event.value) > LONGEST_SCALAR:
            self._problem(mark, f"a text of {len(event.value)} characters; shorten it")
        is_plain = event.implicit[0] and event.tag is None
        return scalar_value(event.value) if is_plain else event.value

    def _refuse_tag(self, tag: str | None, mark: Mark, *, allowed: tuple[str, ...]) -> None:
        if tag is not None and tag not in allowed:
            self._problem(mark, f"tag {shown(tag)} is not allowed; write plain data")

    def _sequence(self, events: Iterator[yaml.Event]) -> list[Node]:
        items = []
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            assert isinstance(event, yaml.NodeEvent), f"unexpected {event}"
            items.append(self._node(event, events, None))
        return items

    def _mapping(self, events: Iterator[yaml.Event]) -> dict[str, Node]:
        entries: dict[str, Node] = {}
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key = self._key(event, events)
            value_event = next(events)
            assert isinstance(value_event, yaml.NodeEvent), f"unexpected {value_event}"
            node = self._node(value_event, events, _mark(self._name, event.start_mark))
            if key in entries:
                first = entries[key].key_mark
                self._problem(node.key_mark, f"{key} appears twice, first in line {first.line}; "
                                             "keep one")  # fmt: skip
            elif key is not None:
                entries[key] = node
        return entries

    def _key(self, event: yaml.Event, events: Iterator[yaml.Event]) -> str | None:
        mark = _mark(self._name, event.start_mark)
        if not isinstance(event, yaml.ScalarEvent):
            assert isinstance(event, yaml.NodeEvent), f"unexpected {event}"
            self._node(event, events, None)
            self._problem(mark, "a key must be a word; quote it if it looks like something else")
            return None
        if event.value == "<<":
            self._problem(mark, "merge keys (<<) are not read; use extends or repeat the values")
            return None
        if event.anchor is not None:
            self._anchors[event.anchor] = Node(event.value, mark, mark), 1
        return event.value


_INTEGER = re.compile(r"[-+]?[0-9]+(_[0-9]+)*")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(_[0-9]+)*(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, bool | float | None] = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    ".inf": math.inf,
    "-.inf": -math.inf,
    ".nan": math.nan,
}
_MOST_DIGITS = 40
"""More digits than any quantity needs; longer ones stay text, since they cost quadratic time."""


def scalar_value(text: str) -> str | int | float | bool | None:
    """Returns the value of a plain scalar."""
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > _MOST_DIGITS or text[0] not in "-+.0123456789":
        return text
    if _INTEGER.fullmatch(text) and not re.fullmatch(r"[-+]?0[0-9]+", text):
        return int(text)
    if _FLOAT.fullmatch(text) and not re.match(r"[-+]?0[0-9]", text):
        return float(text)
    return text
