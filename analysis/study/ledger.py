"""Which units of a plan are done.

Only a folder that agrees with its digests counts, and for a run only one that the present model has
made. The ledger is the folders themselves: there is no
list beside them that could say something else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.study.plan import Unit
from analysis.study.unit_folder import UnitRecord, read_unit


@dataclass(frozen=True, slots=True)
class Ledger:
    """A plan, split into what is done and what is not."""

    done: dict[Unit, UnitRecord]
    missing: list[Unit]


def read_ledger(units_dir: Path, plan: Sequence[Unit], model: str | None = None) -> Ledger:
    """Looks every unit of the plan up, and checks its digests.

    Args:
        units_dir: ``results/<study>/units``.
        plan: the units asked for.
        model: digest of the model that must have made them; None for any.
    """
    done: dict[Unit, UnitRecord] = {}
    missing: list[Unit] = []
    for unit in plan:
        record = read_unit(units_dir / unit.unit_hash)
        if record is None or model not in (None, record.model):
            missing.append(unit)
        else:
            done[unit] = record
    return Ledger(done, missing)
