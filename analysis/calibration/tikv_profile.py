"""A ``tikv.toml``, and what its cluster's metrics say of CPU costs, as YAML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from textwrap import fill
from typing import Any, Final

import yaml

from analysis.calibration.profile_text import plain
from analysis.calibration.prometheus_file import Growth
from analysis.calibration.refusal import CalibrationError, read_text
from analysis.calibration.tikv_costs import Cost, costs_of
from sim.scenario.schema.hardware import CpuCosts
from sim.scenario.section import keys_of
from sim.scenario.tikv_toml import MODELLED, TikvToml, TikvTomlError, read_tikv_toml

_ALIKE: Final = 0.94
"""How much two keys must have in common to be told as a slip of the pen."""


@dataclass(frozen=True, slots=True)
class TikvProfile:
    """A TiKV as a scenario describes it, and remarks about it."""

    text: str
    document: dict[str, Any]
    lines: tuple[str, ...]


def tikv_of(path: Path, growths: Sequence[Growth]) -> TikvProfile:
    """Returns the sections ``tikv`` and ``hardware.cpu`` that a file and metrics give.

    Raises:
        CalibrationError: if the file is no configuration of TiKV.
    """
    try:
        toml = read_tikv_toml(path)
    except TikvTomlError as error:
        if path.is_file() and read_text(path).lstrip()[:1] == "{":
            message = "is JSON, no tikv.toml; answers of Prometheus go after --prometheus"
            raise CalibrationError(path, "", message) from None
        raise CalibrationError(path, "", str(error).removeprefix(f"{path}: ")) from None
    if not (toml.values or toml.not_modelled or toml.gone or growths):
        raise CalibrationError(path, "", "has no key; check the name")
    costs = costs_of(growths) if growths else []
    found = {c.key: _said(c.key, c.cost_ns) for c in costs if c.cost_ns is not None}
    sections: dict[str, Any] = {"tikv": dict(toml.values)}
    if found:
        sections["hardware"] = {"cpu": found}
    lines = _lines(path, toml, costs, restarts=sum(growth.restarts for growth in growths))
    head = [f"# TiKV as in {plain(path.name)}. For a scenario: extends: FILE"]
    head += [f"# {c.key}: {c.why}" for c in costs if c.cost_ns is not None]
    text = "\n".join(head) + "\n\n" + yaml.safe_dump(sections, sort_keys=False)
    document = {
        **sections,
        "renamed": dict(toml.renamed),
        "gone": list(toml.gone),
        "not_modelled": list(toml.not_modelled),
        "not_derived": {c.key: c.why for c in costs if c.cost_ns is None},
    }
    return TikvProfile(text, document, tuple(lines))


def _said(key: str, cost_ns: int) -> Any:
    """Returns a cost as a scenario says it: per byte it is a number, else a duration."""
    return keys_of(CpuCosts)[key].form.written(cost_ns)


def _lines(path: Path, toml: TikvToml, costs: Sequence[Cost], *, restarts: int) -> list[str]:
    total = len(toml.values) + len(toml.not_modelled) + len(toml.gone)
    lines = [f"{plain(path.name)}: {len(toml.values)} of {total} keys are modelled"]
    lines += [f"{old}: now {new}" for old, new in toml.renamed.items()]
    lines += [f"{key}: TiKV no longer has it" for key in toml.gone]
    if toml.not_modelled:
        lines += _meant(toml)
        names = ", ".join(plain(key) for key in toml.not_modelled)
        lines += fill(
            f"not modelled: {names}", 80, subsequent_indent="  ", break_on_hyphens=False
        ).split("\n")
    for cost in costs:
        value = "not derived" if cost.cost_ns is None else f"{cost.cost_ns / 1000:.1f} us"
        lines.append(f"{cost.key}: {value}: {cost.why}")
    if restarts:
        lines.append(f"{restarts} counters began anew in that time: a restart is in it")
    return lines


def _meant(toml: TikvToml) -> list[str]:
    """Returns which of the keys that are not modelled look like one that is."""
    said = []
    for key in toml.not_modelled:
        near = get_close_matches(key, MODELLED - toml.values.keys(), 1, _ALIKE)
        if near and near[0].partition(".")[0] == key.partition(".")[0]:
            said.append(f"{plain(key)}: not modelled; is {near[0]} meant")
    return [f"{line}?" for line in said]
