"""A warning about a scenario, and the cases that its rules look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.study.study import Study
from sim.scenario import Scenario
from sim.scenario.quantities import DURATION
from sim.scenario.schema.operations import Operation, UpgradeStore
from sim.scenario.versions import IN_MEMORY_SINCE, parse_version
from sim.unit_result import simulated_ns


@dataclass(frozen=True, slots=True, order=True)
class ScenarioWarning:
    """One thing that a scenario cannot show, and what to write instead."""

    key: str
    """Dotted path of the key to change."""
    text: str
    """What is wrong; how to fix it."""

    def __str__(self) -> str:
        """Returns what follows ``FILE: warning:``."""
        return f"{self.key}: {self.text}"


@dataclass(frozen=True, slots=True)
class LintedCase:
    """One variant at one point."""

    variant: str
    scenario: Scenario

    @property
    def warmup_ns(self) -> int:
        """Time that certainly is in no figure; 0 where the facts decide."""
        return self.scenario.run.warmup_ns or 0

    @property
    def end_ns(self) -> int:
        """When the run ends."""
        return simulated_ns(self.scenario)

    @property
    def grants_in_memory(self) -> bool:
        """Whether a lock may ever be granted in memory, as far as the configuration goes."""
        return self.scenario.tikv.lock_mode == "in_memory" or bool(self.changes_lock_mode)

    @property
    def gated_by(self) -> str | None:
        """The store version that keeps locks out of memory for the whole run; None: none does."""
        scenario = self.scenario
        if scenario.tikv.force_in_memory:
            return None
        later = [each.to for each in scenario.operations if isinstance(each, UpgradeStore)]
        if any(parse_version(version) >= IN_MEMORY_SINCE for version in later):
            return None
        given = scenario.cluster.store_versions
        return next((each for each in given if parse_version(each) < IN_MEMORY_SINCE), None)

    @property
    def changes_lock_mode(self) -> list[Operation]:
        """The operations that switch lock modes while the cluster runs."""
        return [
            each
            for each in self.scenario.operations
            if getattr(each, "key", "").startswith("pessimistic-txn.")
        ]


def operation_key(operation: Operation, word: str) -> str:
    """Returns ``operations.NAME.word``."""
    return f"operations.{operation.name}.{word}"


def duration(ns: float) -> str:
    """Returns a time as a file would write it, in a unit that suits its size."""
    step = 10**9 if ns >= 100 * 10**9 else 10**6 if ns >= 10**6 else 1
    return DURATION.text_of(round(ns / step) * step)


def said_by(study: Study, variant: str) -> Mapping[str, object]:
    """Returns the keys that a variant changes, with what the file says."""
    compare = study.said.get("compare")
    said = compare.get(variant) if isinstance(compare, dict) else None
    return said if isinstance(said, dict) else {}
