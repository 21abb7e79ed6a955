"""A section of a file and its resolved counterpart: the same names, but for the unit behind them.

A key ``timeout`` of a section is the field ``timeout_ns`` of the resolved class, so values travel
both ways without being listed again. What differs in more than the unit is written by hand, in
``resolve`` and in ``document``.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any, TypeVar, get_args

from sim.distributions import (
    Constant,
    Distribution,
    Empirical,
    Exponential,
    Lognormal,
    LognormalMean,
    Spiky,
)
from sim.scenario.fields import Section, quantity_of
from sim.scenario.quantities import DURATION
from sim.scenario.resolved_operations import RegionTarget, StoreTarget
from sim.scenario.schema.shape import Shape
from sim.scenario.targets import target_document

Document = dict[str, Any]

_T = TypeVar("_T")
_UNITS = ("_ns", "_per_s", "_bytes")


def key_of(field: str) -> str:
    """Returns the key that a resolved field is written as: its name without the unit."""
    for unit in _UNITS:
        field = field.removesuffix(unit)
    return field


def _name_in(model: type[Section], field: str) -> str | None:
    """Returns what a section calls a resolved field; Python's own words have a _ behind them."""
    names = (field, key_of(field), f"{key_of(field)}_")
    return next((name for name in names if name in model.model_fields), None)


def resolved_as(counterpart: type[_T], section: Section, **by_hand: Any) -> _T:
    """Returns the counterpart of a section.

    Args:
        counterpart: the resolved class, a dataclass.
        section: has keys for its fields.
        by_hand: values that the section does not have, or has in another form.
    """
    values: dict[str, Any] = {}
    for field in fields(counterpart):  # type: ignore[arg-type]
        name = _name_in(type(section), field.name)
        if name is not None and field.init:
            value = getattr(section, name)
            values[field.name] = value.distribution() if isinstance(value, Shape) else value
    return counterpart(**values | by_hand)


def section_document(model: type[Section], resolved: Any) -> Document:
    """Returns what a file says for a resolved value, key by key; what only one has is left out.

    Where the value of a key is None the file says ``auto``, if the key takes that; else nothing.
    """
    document = {}
    for field in fields(resolved):
        name = _name_in(model, field.name)
        if name is not None:
            written = _written(model.model_fields[name], getattr(resolved, field.name))
            if written is not None:
                document[model.model_fields[name].alias or name] = written
    return document


def _written(field: Any, value: Any) -> Any:
    """Returns what a file writes for the value of a key, None if nothing."""
    quantity = quantity_of(field)
    if value is None:
        return "auto" if any(getattr(each, "auto", False) for each in field.metadata) else None
    if quantity is not None:
        return quantity.kind.text_of(value)
    if isinstance(value, RegionTarget | StoreTarget):
        return target_document(value)
    if isinstance(value, tuple):
        return [list(each) if isinstance(each, tuple) else each for each in value]
    if isinstance(value, get_args(Distribution)):
        return shape_of(value)
    return _nested(field.annotation, value) if is_dataclass(value) else value


def _nested(annotation: Any, value: Any) -> Document | None:
    """Returns what a file says for a value with a section of its own, None if it has none."""
    is_section = isinstance(annotation, type) and issubclass(annotation, Section)
    return section_document(annotation, value) if is_section else None


def shape_of(distribution: Distribution) -> Document:
    """Returns how a file writes a distribution."""
    time = DURATION.text_of
    match distribution:
        case Constant(value_ns):
            return {"value": time(value_ns)}
        case Exponential(mean_ns):
            return {"mean": time(mean_ns)}
        case LognormalMean(mean_ns, cv):
            return {"mean": time(mean_ns), "cv": cv}
        case Lognormal(p50_ns, p99_ns):
            return {"p50": time(p50_ns), "p99": time(p99_ns)}
        case Empirical(quantiles):
            return {"quantiles": [[probability, time(ns)] for probability, ns in quantiles]}
        case Spiky(base, probability, lo_ns, hi_ns):
            spikes = {
                "probability": probability, "shortest": time(lo_ns), "longest": time(hi_ns),
            }  # fmt: skip
            return shape_of(base) | {"spikes": spikes}
