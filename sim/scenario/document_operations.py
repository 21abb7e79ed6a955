"""Operations as a file says them, by name; a resolved field is called as its key, unit behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from sim.scenario.quantities import DURATION, RATE, SIZE
from sim.scenario.resolved_operations import Operation, RegionTarget, SetConfig, StoreTarget
from sim.scenario.schema.operation_kinds import KINDS
from sim.scenario.schema.operations import said_as
from sim.scenario.targets import target_document


def operations_document(operations: Sequence[Operation]) -> dict[str, Any]:
    """Returns the section of a file that has these operations."""
    return {operation.name: _entry(operation) for operation in operations}


def _entry(operation: Operation) -> dict[str, Any]:
    keys = {name: field.alias or name for name, field in KINDS[operation.do].model_fields.items()}
    entry: dict[str, Any] = {"do": operation.do}
    for field in fields(operation):
        value = getattr(operation, field.name)
        if field.name not in ("do", "name") and value is not None:
            word = said_as(field.name)
            entry[keys.get(word) or keys[f"{word}_"]] = _value(field.name, value)
    if isinstance(operation, SetConfig) and not isinstance(operation.value, bool):
        entry["value"] = SIZE.text_of(operation.value)
    return entry


def _value(field: str, value: Any) -> Any:
    """Returns what a file writes for the value of a resolved field."""
    if isinstance(value, RegionTarget | StoreTarget):
        return target_document(value)
    if field.endswith("_ns"):
        return DURATION.text_of(value)
    if field.endswith("_bytes"):
        return SIZE.text_of(value)
    if field.endswith("_per_s"):
        return RATE.text_of(value)
    if isinstance(value, tuple):
        return [list(each) for each in value]
    return value
