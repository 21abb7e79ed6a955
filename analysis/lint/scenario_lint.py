"""All warnings of a scenario, before anything is run. Quick: of its load there is an estimate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from analysis.lint import operation_rules, question_rules, run_rules
from analysis.lint.scenario_warning import LintedCase, ScenarioWarning
from analysis.study.study import Study

MOST_POINTS: Final = 40
"""Points that are looked at, evenly taken from all, the ends included."""

CASE_RULES: Final = (
    run_rules.warmup_windows,
    run_rules.judged_windows,
    run_rules.longest_transaction,
    run_rules.burst,
)
OPERATION_RULES: Final = (
    operation_rules.never,
    operation_rules.unseen,
    operation_rules.period,
    operation_rules.cut_short,
    operation_rules.election,
    operation_rules.quorum,
    operation_rules.reactivation,
    operation_rules.closed_loop,
    operation_rules.nowhere_to_go,
    operation_rules.no_such_region,
    operation_rules.nothing_to_restart,
)


def scenario_warnings(study: Study) -> list[ScenarioWarning]:
    """Returns what a study cannot show, in the order of the rules, and a load that is too great."""
    warned = static_warnings(study)
    if study.capacity is None:
        warned += run_rules.beyond_capacity(_cases(study))
    return warned


def static_warnings(study: Study) -> list[ScenarioWarning]:
    """Returns what a study cannot show, without an estimate of its load."""
    # Points and variants differ in figures of a sentence, and its first words name the rule: of
    # warnings about the same key by the same rule, one is said.
    first: dict[tuple[str, str], ScenarioWarning] = {}
    for warning in _all(study):
        first.setdefault((warning.key, " ".join(warning.text.split()[:3])), warning)
    return list(first.values())


def _all(study: Study) -> Iterator[ScenarioWarning]:
    yield from run_rules.repetition(study)
    first = [LintedCase(name, scenario) for name, scenario in study.variants.items()]
    by_name = {case.variant: case for case in first}
    if question_rules.is_steady(study):
        yield from question_rules.names(first)
        yield from question_rules.without_effect(study, first)
        yield from question_rules.no_locks(study, first)
        yield from question_rules.claims(study, by_name)
        yield from question_rules.wanted(study, by_name)
        yield from question_rules.limits(study, first)
    yield from question_rules.capacity_range(study, first[0])
    cases = list(_cases(study))
    yield from operation_rules.seldom(cases, study.replications)
    for case in cases:
        for rule in CASE_RULES:
            yield from rule(case)
        for of_operation in OPERATION_RULES:
            for each in case.scenario.operations:
                yield from of_operation(case, each)
        yield from question_rules.gate(case)
        yield from question_rules.versions(case)


def _cases(study: Study) -> Iterator[LintedCase]:
    step = max(len(study.points) - 1, 1) / (MOST_POINTS - 1)
    places = dict.fromkeys(round(place * step) for place in range(MOST_POINTS))
    few = len(study.points) <= MOST_POINTS
    for place in range(len(study.points)) if few else places:
        for variant in study.variants:
            yield LintedCase(variant, study.scenario(study.points[place], variant))
