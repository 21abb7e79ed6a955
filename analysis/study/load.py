"""From a scenario file and the command line to a study, or to all the problems of both.

The order is that of authority: profiles, the extended file, the file, the command line, the
variant, the swept point. A key of the command line that a variant or the sweep would overrule is
refused, because it would have no effect.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from analysis.study.cases import expectations_of, variants_of
from analysis.study.from_python import overrides_of, tree_of
from analysis.study.inheritance import read_with_bases
from analysis.study.json_schema import TOP
from analysis.study.overrides import CASES, Overrides, applied, command_line_overrides
from analysis.study.questions import (
    capacity_of,
    check_capacity,
    check_one_question,
    check_rounds,
    check_sensitivity,
    run_of,
    sensitivity_of,
)
from analysis.study.run import precision_of
from analysis.study.sections import Capacity, Sensitivity
from analysis.study.shipped import located
from analysis.study.study import CaseResolver, Study, point_key
from analysis.study.sweep import sweep_of
from sim.scenario.problems import Mark, Problem, ScenarioError
from sim.scenario.reader import read_file
from sim.scenario.schema.run import Run
from sim.scenario.section import keys_of, unknown_key
from sim.scenario.tree import Node, dotted
from sim.scenario.tree import Path as TreePath

NAMELESS: Final = "scenario"
"""The name of a study that has no file."""


def load_study(
    source: Path | str | Mapping[str, Any],
    overrides: Sequence[str] | Mapping[str, Any] = (),
    seed: int | None = None,
    replications: int | None = None,
) -> Study:
    """Returns the study that a scenario describes.

    Args:
        source: a file, ``pessim:NAME`` for one of ours, or what a file would say.
        overrides: ``a.b=v``, as ``--set`` takes them; or values by their keys.
        seed: replaces ``run.seed``.
        replications: replaces ``run.replications``.

    Raises:
        ScenarioError: with every problem found.
    """
    if isinstance(source, Mapping):
        path, own = Path(NAMELESS), tree_of(source)
    else:
        path = located(source)
        own = read_file(path)
    if isinstance(overrides, Mapping):
        given = overrides_of(overrides)
    else:
        given = command_line_overrides(overrides)
    for key, value in (("seed", seed), ("replications", replications)):
        if value is not None:
            mark = Mark(f"--{key} {value}")
            given[f"run.{key}"] = Node(value, mark, mark)
    base, toml = given.pop("extends", None), given.pop("tikv.file", None)
    file_tree = read_with_bases(own, path, base=base, tikv_file=toml)
    tree = applied(file_tree, given)
    problems: list[Problem] = []
    study = _study(_name_of(path), tree, given, problems)
    if study is None or problems:
        raise ScenarioError(problems)
    return study


def _name_of(path: Path) -> str:
    """Returns a study's name; the copy in a study's folder is named after the folder."""
    return path.resolve().parent.name if path.name == "scenario.yaml" else path.stem


def _study(
    name: str, tree: Node, given: Mapping[str, Node], problems: list[Problem]
) -> Study | None:
    problems += [
        unknown_key(key, node, (), list(TOP))
        for key, node in tree.entries.items()
        if key not in TOP and node.value is not None
    ]
    about = _about(tree, problems)
    run = run_of(tree, problems)
    variants = variants_of(tree, problems)
    sweep = sweep_of(tree, variants, problems)
    expect = expectations_of(tree, list(variants), sweep.points, problems)
    capacity = capacity_of(tree, variants, list(sweep.points[0]), problems)
    sensitivity = sensitivity_of(tree, variants, 0 if run is None else run.seed, problems)
    check_one_question(tree, problems)
    _check_effect(given, variants, sweep.points, sensitivity, problems)
    resolver = CaseResolver(about, _of_a_unit(tree), variants)
    digest = _resolve_all(tree, sweep.points, variants, resolver, problems)
    if not problems:
        _try_ends(tree, sweep.points, (capacity, sensitivity), resolver, problems)
    if problems or run is None:
        return None
    if capacity or sensitivity:
        run = replace(run, batches=1)
    precision = None if capacity or sensitivity else precision_of(run, expect)
    if precision is None:
        check_rounds(tree, problems)
    if problems:
        return None
    points = tuple(_plain(point) for point in sweep.points)
    at_first = {variant: resolver.scenario(points[0], variant) for variant in variants}
    document = {} if sweep.document is None else {"sweep": sweep.document}
    return Study(
        name=name,
        about=about,
        variants=at_first,
        points=points,
        skipped=sweep.skipped,
        contours=sweep.contours,
        expect=expect,
        run=run,
        precision=precision,
        capacity=capacity,
        sensitivity=sensitivity,
        digest=digest,
        resolver=resolver,
        said=tree.plain() | document,
    )


def _of_a_unit(tree: Node) -> Node:
    """Returns a tree without what is said of the study as a whole."""
    entries = {key: node for key, node in tree.entries.items() if key not in ("about", *CASES)}
    run = entries.get("run")
    if run is not None:
        own = {key: node for key, node in run.entries.items() if key in keys_of(Run)}
        entries["run"] = run.with_value(own)
    return tree.with_value(entries)


_ENOUGH = 200
"""Problems after which further points are not looked at."""


def _resolve_all(
    tree: Node,
    points: Iterable[Overrides],
    variants: Iterable[str],
    resolver: CaseResolver,
    problems: list[Problem],
) -> str:
    """Returns the hash of all cases; refuses two that are the same simulation."""
    whole = sha256()
    first_with: dict[str, tuple[str, str]] = {}
    for point in points:
        if len(problems) > _ENOUGH:
            break
        plain = _plain(point)
        for variant in variants:
            resolver.resolve(point, variant, problems)
            if problems:
                continue
            case = (point_key(plain), variant)
            digest = resolver.digest(plain, variant)
            whole.update(f"{case}{digest}".encode())
            twin = first_with.setdefault(digest, case)
            if twin != case:
                problems.append(_same_simulation(tree, twin, case))
                return ""
    return whole.hexdigest()


def _same_simulation(tree: Node, twin: tuple[str, str], case: tuple[str, str]) -> Problem:
    (first_point, first), (_, variant) = twin, case
    path: TreePath = ("sweep",) if first == variant else ("compare", variant)
    same = f"point {first_point}" if first == variant else f"variant {first}"
    message = f"the same simulation as {same}; change a value or remove one of the two"
    return Problem((tree.find(path) or tree).key_mark, dotted(path), message)


def _try_ends(
    tree: Node,
    points: Sequence[Overrides],
    questions: tuple[Capacity | None, Sensitivity | None],
    resolver: CaseResolver,
    problems: list[Problem],
) -> None:
    """Refuses loads and factors that make no valid scenario."""
    capacity, sensitivity = questions
    if capacity is not None:
        check_capacity(capacity, tree, points, resolver, problems)
    if sensitivity is not None:
        check_sensitivity(sensitivity, tree, resolver, problems)


def _plain(point: Overrides) -> dict[str, object]:
    return {key: node.plain() for key, node in point.items()}


def _about(tree: Node, problems: list[Problem]) -> str:
    node = tree.entries.get("about")
    if node is None or node.value is None:
        return ""
    if not isinstance(node.value, str) or not node.value.strip():
        problems.append(Problem(node.mark, "about", "must be text; put the question in quotes"))
        return ""
    return node.value.strip()


def _check_effect(
    given: Mapping[str, Node],
    variants: Mapping[str, Overrides],
    points: Sequence[Overrides],
    sensitivity: Sensitivity | None,
    problems: list[Problem],
) -> None:
    """Refuses keys of the command line that have no effect."""
    factors = [factor.key for factor in sensitivity.factors] if sensitivity is not None else []
    for key, node in given.items():
        if key in points[0]:
            message = f"the sweep overrides it; write --set sweep.grid.{key}=[value]"
            problems.append(Problem(node.mark, key, message))
        elif key in factors:
            instead = f"--set sensitivity.factors.{key}.between=[low, high]"
            problems.append(Problem(node.mark, key, f"sensitivity varies it; write {instead}"))
        elif all(key in changes for changes in variants.values()):
            names = ", ".join(variants)
            message = f"every variant ({names}) overrides it; write --set compare.NAME.{key}=value"
            problems.append(Problem(node.mark, key, message))
