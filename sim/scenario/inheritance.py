"""``extends``: a scenario file that says only what differs from another one.

Law: the name is relative to the file that says it, and the file lies in the scenario's own folder
or below, symbolic links followed (shipped scenarios: anywhere in ``scenarios``). A scenario that
somebody sends around can therefore not read other files of whoever runs it. A file given on the
command line may lie anywhere.
"""

from __future__ import annotations

from pathlib import Path

from sim.scenario.dotted_keys import normalised
from sim.scenario.problems import Mark, Problem, ScenarioError, shown
from sim.scenario.reader import read_file
from sim.scenario.tree import Node, merged

SHIPPED = Path(__file__).resolve().parents[2] / "scenarios"
LONGEST_CHAIN = 8


def read_with_bases(path: Path, *, base: Path | None = None) -> Node:
    """Returns the tree of a scenario file, over those of the files it extends.

    Args:
        path: given on the command line.
        base: replaces what the file itself extends; given on the command line too.

    Raises:
        ScenarioError: if one of them cannot be read or must not be.
    """
    tree = normalised(read_file(path))
    if base is not None:
        return merged(read_with_bases(base), _without_extends(tree))
    return _over_its_base(tree, path, _root_of(path), (path.resolve(),))


def _root_of(path: Path) -> Path:
    resolved = path.resolve()
    return SHIPPED if resolved.is_relative_to(SHIPPED) else resolved.parent


def _over_its_base(tree: Node, path: Path, root: Path, chain: tuple[Path, ...]) -> Node:
    said = tree.entries.get("extends")
    if said is None or said.value is None:
        return _without_extends(tree)
    base = _allowed(said, path, root)
    if base.resolve() in chain:
        names = " → ".join(file.name for file in (*chain, base.resolve()))
        raise _refused(said.mark, f"extends itself ({names}); remove one link")
    if len(chain) > LONGEST_CHAIN:
        raise _refused(said.mark, f"more than {LONGEST_CHAIN} files deep; merge some of them")
    if not base.is_file():
        raise _refused(said.mark, f"no file {shown(said.value)} beside {path.name}; check its name")
    below = _over_its_base(normalised(read_file(base)), base, root, (*chain, base.resolve()))
    return merged(below, _without_extends(tree))


def _allowed(said: Node, path: Path, root: Path) -> Path:
    name = said.value
    if not isinstance(name, str) or "\0" in name:
        raise _refused(said.mark, f"must be a file's name, is {shown(name)}; write other.yaml")
    if Path(name).is_absolute() or name.startswith("~"):
        raise _refused(said.mark, "is absolute; write a path relative to this file")
    base = path.parent / name
    if not base.resolve().is_relative_to(root):
        raise _refused(said.mark, f"leaves {root}; copy the file there, or name it on the command "
                                  f"line: --set extends={name}")  # fmt: skip
    return base


def _refused(mark: Mark, message: str) -> ScenarioError:
    return ScenarioError([Problem(mark, "extends", message)])


def _without_extends(tree: Node) -> Node:
    return tree.with_value({key: node for key, node in tree.entries.items() if key != "extends"})
