"""TiKV's keys that the model does not have: what each means for an answer.

``tikv_unmodelled.yaml`` has them, with the source of their defaults.

Law: of the patterns that match a key the one with the most letters speaks for it. Whether a value
is TiKV's default is said beside the key: then only the model departs from a usual cluster, not this
cluster as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Final

import yaml

from sim.scenario.tikv_toml import same_value

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
