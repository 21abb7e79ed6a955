"""Which units of a plan are done.

Only a folder that agrees with its digests counts. The ledger is the folders themselves: there is no
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


def read_ledger(units_dir: Path, plan: Sequence[Unit]) -> Ledger:
    """Looks every unit of the plan up, and checks its digests."""
    done: dict[Unit, UnitRecord] = {}
    missing: list[Unit] = []
    for unit in plan:
        record = read_unit(units_dir / unit.unit_hash)
        if record is None:
            missing.append(unit)
        else:
            done[unit] = record
    return Ledger(done, missing)
