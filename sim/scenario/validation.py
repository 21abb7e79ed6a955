"""A tree against the schema: unknown keys, wrong values and contradictions, all of them.

Pydantic judges values; where it stops early (a section with one wrong value is not checked as a
whole) unknown keys are taken out first, so that a typing error hides as little as possible.
Messages are turned into ours: with the place in the file and with what to write instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from sim.scenario.fields import Section
from sim.scenario.problems import Problem, shown, suggestion
from sim.scenario.tree import Node, Path, dotted

_S = TypeVar("_S", bound=Section)


def validated(tree: Node, path: Path, model: type[_S], problems: list[Problem]) -> _S | None:
    """Returns the section at ``path``, or None after adding its problems."""
    node = tree.find(path) or Node({}, tree.mark, tree.mark)
    if node.value is None:
        node = node.with_value({})
    content = (model, repr(_content(node)))
    known = _valid.get(content)
    if isinstance(known, model):
        return known
    before = len(problems)
    clean = _without_unknown(node, path, model, problems)
    try:
        section = model.model_validate(clean.plain())
    except ValidationError as error:
        found = [_problem(details, tree, path) for details in error.errors(include_url=False)]
        problems.extend(found)
        return None
    if len(problems) == before:
        _remember(content, section)
    return section


_valid: dict[tuple[type[Section], str], Section] = {}
"""Sections without a problem, by content: most cases of a study differ in one of them."""

_MOST_REMEMBERED = 2_000


def _remember(content: tuple[type[Section], str], section: Section) -> None:
    if len(_valid) >= _MOST_REMEMBERED:
        _valid.clear()
    _valid[content] = section


def _content(node: Node) -> Any:
    """Returns a value without marks, keys without a value included."""
    if isinstance(node.value, dict):
        return {key: _content(child) for key, child in node.value.items()}
    if isinstance(node.value, list):
        return [_content(child) for child in node.value]
    return node.value


def unknown_key(key: str, node: Node, path: Path, known: list[str]) -> Problem:
    """Returns the problem of a key that nothing reads."""
    message = f"unknown key; {suggestion(key, known)}"
    return Problem(node.key_mark, dotted((*path, key)), message)


def _without_unknown(node: Node, path: Path, expected: Any, problems: list[Problem]) -> Node:
    """Returns a node without the keys that its type does not have."""
    model = _model_in(expected)
    if model is not None and isinstance(node.value, dict):
        fields = {field.alias or name: field for name, field in model.model_fields.items()}
        kept = {}
        for key, child in node.value.items():
            if key in fields:
                annotation = fields[key].annotation
                kept[key] = _without_unknown(child, (*path, key), annotation, problems)
            else:
                problems.append(unknown_key(key, child, path, list(fields)))
        return node.with_value(kept)
    inner = _element_type(expected)
    if inner is None:
        return node
    if isinstance(node.value, dict):
        return node.with_value({
            key: _without_unknown(child, (*path, key), inner, problems)
            for key, child in node.value.items()
        })  # fmt: skip
    if isinstance(node.value, list):
        return node.with_value([
            _without_unknown(child, (*path, place), inner, problems)
            for place, child in enumerate(node.value)
        ])  # fmt: skip
    return node


def _alternatives(expected: Any) -> Iterator[Any]:
    """Yields the members of a union, or the type itself."""
    if get_origin(expected) in (dict, list, tuple) or not get_args(expected):
        yield expected
    else:
        yield from (part for part in get_args(expected) if part is not NoneType)


def _model_in(expected: Any) -> type[Section] | None:
    for part in _alternatives(expected):
        if isinstance(part, type) and issubclass(part, Section):
            return part
    return None


def _element_type(expected: Any) -> Any:
    for part in _alternatives(expected):
        if get_origin(part) in (dict, list):
            return get_args(part)[-1]
    return None


def _problem(details: ErrorDetails, tree: Node, path: Path) -> Problem:
    """Returns one of pydantic's errors as ours."""
    context = details.get("ctx", {})
    loc = [part for part in details["loc"] if part != "[key]"]
    full = (*path, *loc, *_steps(context.get("at", "")))
    node, depth = _deepest(tree, full)
    missing = details["type"] == "missing"
    where = full if missing or depth == len(full) else full[:depth]
    at_key = missing or depth < len(full) or details["loc"][-1:] == ("[key]",)
    mark = node.key_mark if at_key else node.mark
    return Problem(mark, dotted(where or path), _message(details))


def _steps(at: str) -> Path:
    """Returns the path in an error's ``at``; keys of TiKV are one step."""
    if at.startswith(("pessimistic-txn.", "raftstore.")):
        return (at,)
    parts = re.findall(r"[^.\[\]]+", at)
    return tuple(int(part) if part.isdigit() else part for part in parts)


def _deepest(tree: Node, path: Path) -> tuple[Node, int]:
    """Returns the last node on a path that the file has, and how many steps it is away."""
    depth = len(path)
    while depth and tree.find(path[:depth]) is None:
        depth -= 1
    return tree.find(path[:depth]) or tree, depth


def _message(details: ErrorDetails) -> str:
    context = details.get("ctx", {})
    given = shown(details["input"])
    match details["type"]:
        case "scenario":
            return str(context["message"])
        case "missing":
            return "missing; write it"
        case "literal_error":
            words = re.findall(r"'([^']*)'", str(context["expected"]))
            return f"{given} is none of its values; {suggestion(str(details['input']), words)}"
        case "model_type" | "model_attributes_type" | "dict_type":
            return f"must be a mapping, is {given}; write {{key: value}}"
        case "list_type" | "tuple_type":
            return f"must be a list, is {given}; write [value, value]"
        case "too_short":
            least = int(context.get("min_length", 1))
            return ("is empty; write at least one" if least == 1 else
                    f"has too few entries; write at least {least}")  # fmt: skip
        case "too_long":
            return f"has too many entries; write {context.get('max_length', 'fewer')} or less"
        case _:
            return f"{details['msg']}; change it"
