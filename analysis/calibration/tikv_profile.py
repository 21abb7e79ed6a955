"""A ``tikv.toml``, and what its cluster's metrics say of CPU costs, as YAML.

``tikv_unmodelled.yaml`` says of keys that the model does not have what each means for an answer,
with the source of their defaults. Law: of the patterns that match a key the one with the most
letters speaks for it. Whether a value is TiKV's default is said beside the key: then only the model
departs from a usual cluster, not this cluster as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

from analysis.calibration.profile_text import Part, document_of, file_text, plain
from analysis.calibration.prometheus_file import Growth, read_stages, together
from analysis.calibration.refusal import CalibrationError, read_text
from analysis.calibration.tikv_costs import KNOWN, Cost, costs_of
from sim.scenario.quantities import SIZE
from sim.scenario.schema.hardware import CACHE_SHARE, CpuCosts
from sim.scenario.section import keys_of
from sim.scenario.tikv_toml import (
    MODELLED,
    TikvToml,
    TikvTomlError,
    read_tikv_toml,
    same_value,
    size_bytes,
)
from sim.units import GIB, MIB

_ALIKE: Final = 0.94
"""How similar two keys must be for one to be reported as a likely typing error of the other."""
_CACHE: Final = "storage.block-cache.capacity"
_MEMORY: Final = "store_memory"


@dataclass(frozen=True, slots=True)
class TikvProfile:
    """A TiKV as a scenario describes it, and remarks about it."""

    file: Path
    toml: TikvToml
    parts: tuple[Part, ...]
    document: dict[str, Any]
    read: tuple[str, ...]
    """Remarks: how many keys are modelled, and what became of old and of doubtful ones."""
    not_modelled: tuple[str, ...]
    """Keys that the model does not have, and what that means, a sentence each."""
    costs: tuple[str, ...]
    """What was derived of CPU costs, and what was not."""

    @property
    def lines(self) -> tuple[str, ...]:
        """All remarks."""
        return (*self.read, *self.not_modelled, *self.costs)

    @property
    def text(self) -> str:
        """The profile as a file that a scenario can extend."""
        head = f"TiKV as in {self.file.name}. For a scenario: extends: FILE"
        return file_text([head], self.parts)


def read_tikv(tomls: Sequence[Path], prometheus: Iterable[Path]) -> TikvProfile:
    """Returns what the one ``tikv.toml`` that is given and answers of Prometheus say.

    Raises:
        CalibrationError: if a file cannot be used.
    """
    if len(tomls) != 1:
        message = f"{len(tomls)} are given; write one tikv.toml, metrics after --prometheus"
        raise CalibrationError(tomls[1], "", message)
    files = dict.fromkeys(prometheus)
    growths = together(each for file in files for each in read_stages(file, KNOWN))
    return tikv_of(tomls[0], growths)


def tikv_of(path: Path, growths: Sequence[Growth]) -> TikvProfile:
    """Returns the section ``tikv`` and what of ``hardware`` a file and metrics give.

    Raises:
        CalibrationError: if the file is no configuration of TiKV.
    """
    toml = _toml(path)
    if not (toml.values or toml.not_modelled or toml.gone or growths):
        raise CalibrationError(path, "", "has no key; check the name")
    costs = costs_of(growths) if growths else []
    memory = _memory(path, toml)
    without = [key for key in toml.not_modelled if key not in memory]
    meanings = effects(without, toml.written)
    # Per byte a cost is a number, else a duration.
    forms = {key: each.form for key, each in keys_of(CpuCosts).items()}
    found = {c.key: forms[c.key].written(c.cost_ns) for c in costs if c.cost_ns is not None}
    restarts = sum(growth.restarts for growth in growths)
    read = tuple(_read(path, toml, memory))
    not_modelled = tuple(
        f"not modelled: {', '.join(map(plain, keys))}. {effect}"
        for effect, keys in meanings.items()
    )
    said = (read[0], *not_modelled)
    parts = [Part("tikv", said, dict(toml.values))] if toml.written else []
    if memory:
        parts.append(Part("hardware", tuple(memory.values()), {_MEMORY: _size(toml)}))
    if found:
        said = tuple(f"{c.key}: {c.why}" for c in costs if c.cost_ns is not None)
        here = "store_core_speed: costs are those of the cores they were measured on"
        parts.append(Part("hardware", (*said, here), {"cpu": found, "store_core_speed": 1}))
    document = {
        "tikv": {},
        **document_of(parts),
        "renamed": dict(toml.renamed),
        "gone": list(toml.gone),
        "not_modelled": {key: why for why, keys in meanings.items() for key in keys},
        "not_derived": {c.key: c.why for c in costs if c.cost_ns is None},
    }
    derived = tuple(_costs(costs, restarts))
    return TikvProfile(path, toml, tuple(parts), document, read, not_modelled, derived)


def _toml(path: Path) -> TikvToml:
    try:
        return read_tikv_toml(path)
    except TikvTomlError as error:
        if path.is_file() and read_text(path).lstrip()[:1] == "{":
            message = "is JSON, not a tikv.toml; answers of Prometheus go after --prometheus"
            raise CalibrationError(path, "", message) from None
        raise CalibrationError(path, "", str(error).removeprefix(f"{path}: ")) from None


def _memory(path: Path, toml: TikvToml) -> dict[str, str]:
    """Returns the key from which the store's memory follows, with a sentence; empty: not there."""
    if _CACHE not in toml.not_modelled:
        return {}
    try:
        size_bytes(toml.written[_CACHE])
    except ValueError as error:
        raise CalibrationError(path, _CACHE, str(error)) from None
    share = f"since the model caches {CACHE_SHARE * 100:.0f} % of a store's memory"
    said = f"hardware.{_MEMORY}: from {_CACHE} = {toml.written[_CACHE]}, {share}"
    return {_CACHE: plain(said)}


def _size(toml: TikvToml) -> str:
    memory = size_bytes(toml.written[_CACHE]) / CACHE_SHARE
    return SIZE.text_of(max(GIB, round(memory / MIB) * MIB))


def _read(path: Path, toml: TikvToml, memory: Mapping[str, str]) -> Iterator[str]:
    total = len(toml.values) + len(toml.not_modelled) + len(toml.gone)
    modelled = len(toml.values) + len(memory)
    yield f"{plain(path.name)}: {modelled} of {total} keys are modelled"
    yield from memory.values()
    yield from (f"{old}: now {new}" for old, new in toml.renamed.items())
    yield from (f"{key}: TiKV no longer has it" for key in toml.gone)
    yield from _meant(toml)


def _costs(costs: Sequence[Cost], restarts: int) -> Iterator[str]:
    for cost in costs:
        value = "not derived" if cost.cost_ns is None else f"{cost.cost_ns / 1000:.1f} us"
        yield f"{cost.key}: {value}: {cost.why}"
    if restarts:
        yield f"{restarts} counters began again at 0: a store restarted in that time"


def _meant(toml: TikvToml) -> list[str]:
    """Returns which of the keys that are not modelled look like one that is."""
    said = []
    for key in toml.not_modelled:
        near = get_close_matches(key, MODELLED - toml.values.keys(), 1, _ALIKE)
        if near and near[0].partition(".")[0] == key.partition(".")[0]:
            said.append(f"{plain(key)}: not modelled; is {near[0]} meant")
    return [f"{line}?" for line in said]


UNKNOWN: Final = "Not among the keys known to matter; look it up if you changed it on purpose."


@cache
def _by_pattern() -> dict[str, tuple[str, str | int | bool | None]]:
    """Returns by pattern of keys what the model does instead, and TiKV's default."""
    text = Path(__file__).with_name("tikv_unmodelled.yaml").read_text(encoding="utf-8")
    return {
        pattern: (said["effect"], default)
        for said in yaml.safe_load(text)
        for pattern, default in said["keys"].items()
    }


def effects(keys: Iterable[str], written: Mapping[str, object]) -> dict[str, list[str]]:
    """Returns keys by what not having them means for an answer, as texts in order of first use.

    Args:
        keys: of a ``tikv.toml``, none of them modelled.
        written: their values; one that is TiKV's default is said to be.
    """
    found: dict[str, list[str]] = {}
    known = _by_pattern()
    for key in keys:
        matching = (pattern for pattern in known if fnmatchcase(key, pattern))
        pattern = max(matching, key=lambda each: len(each.replace("*", "")), default="")
        effect, default = known.get(pattern, (UNKNOWN, None))
        at_default = default is not None and same_value(written[key], default)
        found.setdefault(effect, []).append(f"{key} (TiKV's default)" if at_default else key)
    return found
