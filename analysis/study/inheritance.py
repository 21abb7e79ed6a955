"""``extends``: a scenario file that says only what differs from others; ``tikv.file`` below.

Law: what is extended is read as a scenario and as nothing else, so it may be anywhere: a name is
relative to the file that says it, or a whole path, or after ``pessim:`` a scenario that comes with
the program. In a list each file lies over those before it, and a file that is extended in two ways
counts once, where it comes first. A ``tikv.toml`` is a file of another program: a scenario names
one in its own folder or below, symbolic links followed; the command line names any.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from pathlib import Path

from analysis.study.overrides import merged
from analysis.study.shipped import located, ours_meant
from sim.scenario.problems import Mark, Problem, ScenarioError, shown
from sim.scenario.reader import read_file
from sim.scenario.tikv_toml import TikvTomlError, read_tikv_toml
from sim.scenario.tree import Node, dotted, node_of, normalised

LONGEST_CHAIN = 8
_EXTENDS = ("extends",)
_TOML = ("tikv", "file")

Layers = dict[Path, tuple[Path, Node]]
"""Each file as it was named and what it says itself, by its resolved path, the lowest first."""


def read_with_bases(own: Node, path: Path, *, base: Node | None, tikv_file: Node | None) -> Node:
    """Returns what a scenario says over what it extends.

    Args:
        own: what it says itself.
        path: its file; one that is not there for a scenario without a file, which lies in its
            folder.
        base: replaces what it says that it extends; names are relative to the working directory.
        tikv_file: likewise the ``tikv.file`` of all of them.

    Raises:
        ScenarioError: if a file cannot be read.
    """
    tree = normalised(own)
    layers: Layers = {}
    if base is None:
        _add_bases(tree, path, (path.resolve(),), layers)
    else:
        for said in _names(base):
            _add(said, Path(), (path.resolve(),), layers)
    layers[path.resolve()] = path, tree
    if tikv_file is not None:
        whole = reduce(merged, [_without_toml(tree) for _, tree in layers.values()])
        toml = Path(_name(tikv_file, dotted(_TOML))).expanduser()
        return _without_extends(_over_toml(whole, toml, tikv_file.mark))
    return _without_extends(reduce(merged, _over_tomls(layers)))


def _add_bases(tree: Node, path: Path, chain: tuple[Path, ...], layers: Layers) -> None:
    """Adds what a file extends, unless it is there."""
    said = tree.find(_EXTENDS)
    if said is not None and said.value is not None:
        for each in _names(said):
            _add(each, path, chain, layers)


def _names(said: Node) -> list[Node]:
    return said.value if isinstance(said.value, list) else [said]


def _add(said: Node, path: Path, chain: tuple[Path, ...], layers: Layers) -> None:
    base = _base(said, path)
    resolved = base.resolve()
    if resolved in chain:
        names = " → ".join(file.name for file in (*chain, resolved))
        raise _refused(said.mark, dotted(_EXTENDS), f"extends itself ({names}); remove one link")
    if len(chain) > LONGEST_CHAIN:
        message = f"more than {LONGEST_CHAIN} files deep; merge some of them"
        raise _refused(said.mark, dotted(_EXTENDS), message)
    if resolved not in layers:
        tree = normalised(read_file(base))
        _add_bases(tree, base, (*chain, resolved), layers)
        layers[resolved] = base, tree


def _base(said: Node, path: Path) -> Path:
    """Returns the scenario file that is named in ``path``."""
    key = dotted(_EXTENDS)
    name = _name(said, key)
    try:
        found = path.parent / located(name).expanduser()
    except ScenarioError as error:
        raise _refused(said.mark, key, error.problems[0].message) from None
    except RuntimeError as error:
        raise _refused(said.mark, key, f"{error}; write the whole path") from None
    if not found.exists():
        beside = "" if Path(name).is_absolute() else f" (looked for in {found.parent.resolve()})"
        meant = ours_meant(found) or "check its name"
        raise _refused(said.mark, key, f"no file {shown(name)}{beside}; {meant}")
    if found.is_dir():
        raise _refused(said.mark, key, f"{shown(name)} is a folder; name a scenario file in it")
    return found


def _toml(said: Node, path: Path) -> Path:
    """Returns the ``tikv.toml`` that is named in ``path``, if it may be read."""
    key = dotted(_TOML)
    name = _name(said, key)
    on_command_line = f"name it on the command line: --set {key}={name}"
    if Path(name).is_absolute() or name.startswith("~"):
        message = f"is absolute; write a path relative to this file, or {on_command_line}"
        raise _refused(said.mark, key, message)
    folder = path.resolve().parent
    if not (path.parent / name).resolve().is_relative_to(folder):
        message = f"leaves {folder}; copy the file there, or {on_command_line}"
        raise _refused(said.mark, key, message)
    return path.parent / name


def _name(said: Node, key: str) -> str:
    name = said.value
    if isinstance(name, str) and "\0" not in name and name.strip():
        return name
    example = "other.yaml" if key == dotted(_EXTENDS) else "tikv.toml"
    raise _refused(said.mark, key, f"must be a file's name, is {shown(name)}; write {example}")


def _over_tomls(layers: Layers) -> Iterable[Node]:
    """Yields what each file says, over the ``tikv.toml`` that it names."""
    for path, tree in layers.values():
        said = tree.find(_TOML)
        if said is None or said.value is None:
            yield tree
        else:
            yield _over_toml(tree, _toml(said, path), said.mark)


def _without_toml(tree: Node) -> Node:
    said = tree.find(_TOML)
    return tree if said is None else tree.replaced(_TOML, said.with_value(None))


def _over_toml(tree: Node, toml: Path, mark: Mark) -> Node:
    try:
        values = dict(read_tikv_toml(toml).values)
    except TikvTomlError as error:
        raise _refused(mark, dotted(_TOML), str(error)) from None
    tikv = tree.find(_TOML[:1])
    below = node_of(values, Mark(str(toml)))
    if tikv is None or not isinstance(tikv.value, dict):
        return tree.replaced(_TOML[:1], below)
    own = {key: child for key, child in tikv.entries.items() if key != _TOML[1]}
    return tree.replaced(_TOML[:1], merged(below, tikv.with_value(own)))


def _refused(mark: Mark, key: str, message: str) -> ScenarioError:
    return ScenarioError([Problem(mark, key, message)])


def _without_extends(tree: Node) -> Node:
    return tree.with_value({key: node for key, node in tree.entries.items() if key != "extends"})
