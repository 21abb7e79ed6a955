"""What has become of the units that a study asked for, as its folder shows it now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

from analysis.study.folder_lock import Holder, lock_holder
from analysis.study.ledger import scan
from analysis.study.plan_file import read_plan
from analysis.study.unit_folder import is_cut
from analysis.study.units import AskedUnits, Unit

STATES: Final = ("done", "failed", "running", "missing")
DAMAGED: Final = "damaged"
"""State of a unit that is done, to judge by the folder's listing, and that cannot be used."""


@dataclass(frozen=True, slots=True)
class StudyState:
    """A study's folder at a glance; no unit is opened."""

    folder: Path
    plan: AskedUnits
    by_unit: Mapping[Unit, str]
    """One of ``STATES`` or ``DAMAGED``, in the order of the plan.

    What a killed run was writing is missing.
    """
    holder: Holder | None
    """Who is writing into the folder."""

    @classmethod
    def now(cls, folder: Path) -> Self:
        """Looks a folder over.

        Raises:
            StudyFolderError: if it has no plan.
        """
        plan = read_plan(folder)
        holder = lock_holder(folder)  # before the folder is read: what ends in between is done
        seen = scan(folder / "units")
        of_hash = {} if holder is None else dict.fromkeys(seen.running, "running")
        of_hash |= dict.fromkeys(seen.failed, "failed") | dict.fromkeys(seen.done, "done")
        by_unit = {unit: of_hash.get(unit.unit_hash, "missing") for unit in plan.units}
        return cls(folder, plan, by_unit, holder)

    def but_cut(self) -> Self:
        """Returns it with units whose files end too soon, as a look at their ends shows."""
        units = self.folder / "units"
        return self.but_damaged(
            [unit for unit in self.units("done") if is_cut(units / unit.unit_hash)]
        )

    def but_damaged(self, damaged: Collection[Unit]) -> Self:
        """Returns it with units whose folders have been looked into, and are not whole."""
        return replace(self, by_unit={**self.by_unit, **dict.fromkeys(damaged, DAMAGED)})

    @property
    def variants(self) -> list[str]:
        """Variants that have units."""
        return list(dict.fromkeys(unit.variant for unit in self.by_unit))

    def units(self, state: str) -> list[Unit]:
        """Returns the units in a state."""
        return [unit for unit, is_in in self.by_unit.items() if is_in == state]

    def counts(self, variant: str | None = None) -> Counter[str]:
        """Returns how many units, of one variant or all, are in each state."""
        return Counter(
            state for unit, state in self.by_unit.items() if variant in {None, unit.variant}
        )
