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
from typing import Any, Final, NamedTuple

from analysis.program import command
from analysis.study.cases import expectations_of, variants_of
from analysis.study.inheritance import read_with_bases
from analysis.study.json_schema import TOP, key_meant
from analysis.study.overrides import (
    CASES,
    Overrides,
    applied,
    command_line_overrides,
    overrides_of,
    plain_point,
    tree_of,
)
from analysis.study.questions import (
    capacity_of,
    check_capacity,
    check_claims_precision,
    check_one_question,
    check_rounds,
    check_sensitivity,
    check_transaction_names,
    run_of,
    sensitivity_of,
)
from analysis.study.run import has_fixed_times, precision_of
from analysis.study.sections import Sensitivity
from analysis.study.shipped import (
    located,
    refuse_ours_without_prefix,
    shipped_files,
    shipped_name,
)
from analysis.study.study import CaseResolver, Study, point_key
from analysis.study.sweep import sweep_of
from analysis.study.units import Point, point_words
from sim.scenario.problems import Mark, Problem, ScenarioError, shown
from sim.scenario.reader import read_file
from sim.scenario.schema.run import Run
from sim.scenario.section import keys_of, refuse_unknown
from sim.scenario.tree import Node, Place

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
        refuse_ours_without_prefix(path)
        own = read_file(path)
    if isinstance(overrides, Mapping):
        given = overrides_of(overrides)
    else:
        given = command_line_overrides(overrides)
    for key, value in (("seed", seed), ("replications", replications)):
        if value is not None:
            mark = Mark(f"{key} {value}" if isinstance(overrides, Mapping) else f"--{key} {value}")
            given[f"run.{key}"] = Node(value, mark, mark)
    base, toml = given.pop("extends", None), given.pop("tikv.file", None)
    file_tree = read_with_bases(own, path, base=base, tikv_file=toml)
    tree = applied(file_tree, given)
    root = Place(tree, (), [])
    study = _study(_name_of(path), root, given)
    if study is None or root.problems:
        raise ScenarioError(root.problems)
    return study


def _name_of(path: Path) -> str:
    """Returns a study's name; the copy in a study's folder is named after the folder."""
    return path.resolve().parent.name if path.name == "scenario.yaml" else path.stem


def _refuse_unknown_sections(root: Place) -> None:
    for key, each in root.below().items():
        if key not in TOP and each.value is not None:
            refuse_unknown(each, key_meant(key, list(TOP)))


def _study(name: str, root: Place, given: Mapping[str, Node]) -> Study | None:
    tree, problems = root.node, root.problems
    _refuse_unknown_sections(root)
    run = run_of(root["run"])
    variants = variants_of(root)
    sweep = sweep_of(root["sweep"], variants)
    capacity = capacity_of(root["capacity"], variants, list(sweep.points[0]))
    searches = root["capacity"].value is not None
    expect = expectations_of(root["expect"], list(variants), sweep.points, searches=searches)
    sensitivity = sensitivity_of(root["sensitivity"], variants, 0 if run is None else run.seed)
    check_one_question(root)
    check_claims_precision(root)
    _check_effect(given, variants, sweep.points, sensitivity, problems)
    about = _about(root["about"])
    resolver = CaseResolver(about, _of_a_unit(tree), variants)
    digest = _resolve_all(root, sweep.points, variants, resolver)
    if not problems:
        check_capacity(capacity, root["capacity"], sweep.points, resolver)
        check_sensitivity(sensitivity, root["sensitivity"], resolver)
        check_transaction_names(root, sweep.points, resolver)
    if problems or run is None:
        return None
    precision = None if capacity or sensitivity else precision_of(run, expect)
    if precision is None:
        check_rounds(root)
        run = replace(run, max_replications=None)  # of a file that is extended: there are no rounds
    if problems:
        return None
    points = tuple(plain_point(point) for point in sweep.points)
    at_first = {variant: resolver.scenario(points[0], variant) for variant in variants}
    if capacity or sensitivity or any(map(has_fixed_times, at_first.values())):
        run = replace(run, batches=1)
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


class ShippedScenario(NamedTuple):
    """A scenario that comes with the program."""

    name: str
    file: str
    about: str
    """Its question, in one line."""


def shipped_scenarios() -> list[ShippedScenario]:
    """Returns the scenarios to begin with, those of the cookbook last."""
    files = shipped_files(".", "cookbook")
    return [ShippedScenario(shipped_name(file), str(file), _about_of(file)) for file in files]


def _about_of(file: Path) -> str:
    try:
        return " ".join(load_study(file).about.split())
    except ScenarioError:
        return f"(does not load; see: {command('check', file)})"


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
    root: Place,
    points: Iterable[Overrides],
    variants: Mapping[str, Overrides],
    resolver: CaseResolver,
) -> str:
    """Returns the hash of all cases; refuses two that are the same simulation."""
    whole = sha256()
    first_with: dict[str, tuple[Point, str]] = {}
    for point in points:
        if len(root.problems) > _ENOUGH:
            break
        plain = plain_point(point)
        for variant in variants:
            resolver.resolve(point, variant, root.problems)
            if root.problems:
                continue
            case = (plain, variant)
            digest = resolver.digest(plain, variant)
            whole.update(f"{(point_key(plain), variant)}{digest}".encode())
            twin = first_with.setdefault(digest, case)
            if twin != case:
                _refuse_twin(root, variants, twin, case)
                return ""
    return whole.hexdigest()


def _refuse_twin(
    root: Place,
    variants: Mapping[str, Overrides],
    twin: tuple[Point, str],
    case: tuple[Point, str],
) -> None:
    """Notes that two cases are the same simulation, and what one has without saying it."""
    (first_point, first), (point, variant) = twin, case
    if first == variant:
        told = f"{point_words(point)} is the same simulation as {point_words(first_point)}"
        place = root["sweep"]
    else:
        place, told = root["compare"][variant], f"the same simulation as variant {first}"
        unsaid = [
            f"{key}: {shown(node.plain())}"
            for key, node in variants[variant].items()
            if key not in variants[first]
        ]
        if unsaid:
            told += f", which has {' and '.join(unsaid)} without saying it"
    place.refuse_key(f"{told}; change a value or remove one of the two")


def _about(place: Place) -> str:
    if isinstance(place.value, str) and place.value.strip():
        return place.value.strip()
    if place.value is not None:
        place.refuse("must be text; put the question in quotes")
    return ""


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
