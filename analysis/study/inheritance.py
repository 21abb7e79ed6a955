"""``extends``: a scenario file that says only what differs from another one; ``tikv.file`` below.

Law: the name is relative to the file that says it, and the file is in the scenario's own folder or
below, symbolic links followed (shipped scenarios: anywhere in ``scenarios``). A scenario received
from elsewhere can therefore read no other file of the user's. A file given on the command line may
be anywhere. The same holds for a ``tikv.toml``; the scenario that names it overrides its keys.
"""

from __future__ import annotations

from pathlib import Path

from analysis.study.file_tree import merged
from sim.scenario.problems import Mark, Problem, ScenarioError, shown
from sim.scenario.reader import read_file
from sim.scenario.tikv_toml import TikvTomlError, read_tikv_toml
from sim.scenario.tree import Node, dotted, node_of, normalised

SHIPPED = Path(__file__).resolve().parents[2] / "scenarios"
LONGEST_CHAIN = 8
_TOML = ("tikv", "file")


def read_with_bases(path: Path, *, base: Path | None = None, tikv_file: Path | None = None) -> Node:
    """Returns the tree of a scenario file, over those of the files it extends.

    Args:
        path: given on the command line.
        base: replaces what the file itself extends; given on the command line too.
        tikv_file: replaces the ``tikv.file`` of all of them; given on the command line too.

    Raises:
        ScenarioError: if one of them cannot be read or must not be.
    """
    tree = _read(path, base, strips_toml=tikv_file is not None)
    if tikv_file is None:
        return tree
    return _over_toml(tree, tikv_file, Mark(f"--set tikv.file={tikv_file}"))


def _read(path: Path, base: Path | None, *, strips_toml: bool) -> Node:
    tree, root = normalised(read_file(path)), _root_of(path)
    if base is None:
        return _over_its_base(tree, path, root, (path.resolve(),), strips_toml=strips_toml)
    own = _over_its_toml(tree, path, root, strips_toml=strips_toml)
    return merged(_read(base, None, strips_toml=strips_toml), _without_extends(own))


def _root_of(path: Path) -> Path:
    resolved = path.resolve()
    return SHIPPED if resolved.is_relative_to(SHIPPED) else resolved.parent


def _over_its_base(
    tree: Node, path: Path, root: Path, chain: tuple[Path, ...], *, strips_toml: bool
) -> Node:
    tree = _over_its_toml(tree, path, root, strips_toml=strips_toml)
    said = tree.entries.get("extends")
    if said is None or said.value is None:
        return _without_extends(tree)
    base = _allowed(said, "extends", path, root)
    if base.resolve() in chain:
        names = " → ".join(file.name for file in (*chain, base.resolve()))
        raise _refused(said.mark, "extends", f"extends itself ({names}); remove one link")
    if len(chain) > LONGEST_CHAIN:
        raise _refused(
            said.mark, "extends", f"more than {LONGEST_CHAIN} files deep; merge some of them"
        )
    if not base.is_file():
        raise _refused(
            said.mark, "extends", f"no file {shown(said.value)} beside {path.name}; check its name"
        )
    longer = (*chain, base.resolve())
    below = _over_its_base(normalised(read_file(base)), base, root, longer, strips_toml=strips_toml)
    return merged(below, _without_extends(tree))


def _over_its_toml(tree: Node, path: Path, root: Path, *, strips_toml: bool) -> Node:
    """Returns a file's tree over the ``tikv.toml`` that it names, if that one counts."""
    said = tree.find(_TOML)
    if said is None or said.value is None:
        return tree
    if strips_toml:
        return tree.replaced(_TOML, said.with_value(None))
    return _over_toml(tree, _allowed(said, dotted(_TOML), path, root), said.mark)


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


def _allowed(said: Node, key: str, path: Path, root: Path) -> Path:
    """Returns the file that a scenario names, if it may be read."""
    name = said.value
    if not isinstance(name, str) or "\0" in name:
        example = "other.yaml" if key == "extends" else "tikv.toml"
        raise _refused(said.mark, key, f"must be a file's name, is {shown(name)}; write {example}")
    if Path(name).is_absolute() or name.startswith("~"):
        remedy = "write a path relative to this file"
        if key != "extends":
            remedy += f", or name it on the command line: --set {key}={name}"
        raise _refused(said.mark, key, f"is absolute; {remedy}")
    base = path.parent / name
    if not base.resolve().is_relative_to(root):
        raise _refused(said.mark, key, f"leaves {root}; copy the file there, or name it on the "
                                       f"command line: --set {key}={name}")  # fmt: skip
    return base


def _refused(mark: Mark, key: str, message: str) -> ScenarioError:
    return ScenarioError([Problem(mark, key, message)])


def _without_extends(tree: Node) -> Node:
    return tree.with_value({key: node for key, node in tree.entries.items() if key != "extends"})
