"""From a scenario file and the command line to a study, or to all the problems of both.

The order is that of authority: profiles, the extended file, the file, the command line, the
variant, the swept point. A key of the command line that a variant or the sweep would overrule is
refused, because it would have no effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from sim.scenario.cases import (
    Overrides,
    check_differences,
    expectations_of,
    points_of,
    variants_of,
)
from sim.scenario.inheritance import read_with_bases
from sim.scenario.overrides import applied, command_line_overrides
from sim.scenario.problems import Mark, Problem, ScenarioError
from sim.scenario.resolve import resolved
from sim.scenario.resolved import Scenario
from sim.scenario.study import Study, point_key
from sim.scenario.tree import Node


def load_study(
    path: Path | str,
    overrides: Sequence[str] = (),
    seed: int | None = None,
    replications: int | None = None,
) -> Study:
    """Returns the study that a scenario file describes.

    Args:
        path: the file.
        overrides: ``a.b=v``, as ``--set`` takes them.
        seed: replaces ``run.seed``.
        replications: replaces ``run.replications``.

    Raises:
        ScenarioError: with every problem found.
    """
    path = Path(path)
    given = command_line_overrides(overrides)
    for key, value in (("seed", seed), ("replications", replications)):
        if value is not None:
            mark = Mark(f"--{key} {value}")
            given[f"run.{key}"] = Node(value, mark, mark)
    base = given.pop("extends", None)
    file_tree = read_with_bases(path, base=None if base is None else Path(str(base.value)))
    tree = applied(file_tree, given)
    problems: list[Problem] = []
    study = _study(_name_of(path), tree, given, problems)
    if study is None or problems:
        raise ScenarioError(problems)
    return study


def _name_of(path: Path) -> str:
    """Returns a study's name; the copy that lies in a study's folder is called as the folder."""
    return path.resolve().parent.name if path.name == "scenario.yaml" else path.stem


def _study(
    name: str, tree: Node, given: Mapping[str, Node], problems: list[Problem]
) -> Study | None:
    about = _about(tree, problems)
    variants = variants_of(tree, problems)
    points = points_of(tree, variants, problems)
    expect = expectations_of(tree, list(variants), points, problems)
    _check_effect(given, variants, points, problems)
    shared = _without_cases(tree)
    scenarios: dict[tuple[str, str], Scenario] = {}
    for point in points:
        key = point_key(_plain(point))
        for variant, changes in variants.items():
            case = applied(applied(shared, changes), point)
            scenario = resolved(case, about, problems)
            if scenario is not None:
                scenarios[key, variant] = scenario
        if len(problems) > _ENOUGH:
            break
    if not problems:
        check_differences(tree, scenarios, problems)
    if problems:
        return None
    first = point_key(_plain(points[0]))
    return Study(
        name=name,
        about=about,
        variants={variant: scenarios[first, variant] for variant in variants},
        points=tuple(_plain(point) for point in points),
        expect=expect,
        scenarios=scenarios,
        said=tree.plain(),
    )


_ENOUGH = 200
"""Problems after which further points are not looked at."""


def _plain(point: Overrides) -> dict[str, object]:
    return {key: node.plain() for key, node in point.items()}


def _without_cases(tree: Node) -> Node:
    cases = ("compare", "sweep", "expect", "about")
    return tree.with_value({k: node for k, node in tree.entries.items() if k not in cases})


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
    problems: list[Problem],
) -> None:
    """Refuses what the command line sets in vain."""
    for key, node in given.items():
        if key in points[0]:
            message = f"the sweep overrules it; write --set sweep.grid.{key}=[value]"
            problems.append(Problem(node.mark, key, message))
        elif all(key in changes for changes in variants.values()):
            names = ", ".join(variants)
            message = f"every variant ({names}) overrules it; write --set compare.NAME.{key}=value"
            problems.append(Problem(node.mark, key, message))
