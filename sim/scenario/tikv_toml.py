"""TiKV's own configuration file: the keys that the model knows, and the names of the others.

Law: what the scenario says under ``tikv`` overrides a ``tikv.toml``. Keys of TiKV that the model
does not have change nothing, and are not refused: a real file has a hundred of them. Units are
TiKV's: KB and KiB are both 1,024 bytes, ``1h30m`` is a duration, a bare number of a lock's timeout
is milliseconds.

Source: tikv/tikv components/tikv_util/src/config.rs (ReadableSize, ReadableDuration);
components/raftstore/src/store/config.rs (fields marked deprecated); of other programs tikv/pd
server/config/config.go, pingcap/tidb pkg/config/config.go, pingcap/tiflash
etc/config-template.toml.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from sim.scenario.fields import Form, Quantity
from sim.scenario.problems import shown
from sim.scenario.quantities import DURATION, SIZE
from sim.scenario.schema.tikv import Tikv
from sim.scenario.section import keys_of
from sim.units import NS_PER_MS, NS_PER_S, NS_PER_US

MOST_BYTES: Final = 1024 * 1024
RENAMED: Final = {"raftstore.region-split-size": "coprocessor.region-split-size"}
"""Keys that moved, and where to; TiKV still takes the old one."""
GONE: Final = frozenset({"raftstore.sync-log", "pessimistic-txn.enabled"})
"""Keys that TiKV no longer has; it writes a warning."""

_OTHERS: Final = {
    "PD": {
        "client-urls", "dashboard", "initial-cluster", "pd-server", "peer-urls", "replication",
        "schedule",
    },
    "TiDB": {
        "instance", "isolation-read", "performance", "plan-cache", "prepared-plan-cache", "status",
        "tikv-client", "token-limit", "txn-local-latches",
    },
    "TiFlash": {"flash", "http_port", "profiles", "quotas", "tcp_port", "users"},
}  # fmt: skip
"""What the configuration of other programs begins with, and a ``tikv.toml`` never."""
_OF_TIKV: Final = {
    "coprocessor", "raft-engine", "raftdb", "raftstore", "readpool", "rocksdb", "server", "storage",
}  # fmt: skip
_OURS: Final = "Not a key of TiKV"
"""In the description of keys under ``tikv`` that only this model has."""
_DAY_NS: Final = 24 * 3600 * NS_PER_S
_DURATIONS: Final = {
    "d": _DAY_NS, "h": _DAY_NS // 24, "m": 60 * NS_PER_S, "s": NS_PER_S, "ms": NS_PER_MS,
    "us": NS_PER_US,
}  # fmt: skip
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}

Value = str | int | float | bool


class TikvTomlError(ValueError):
    """A file that is no configuration of TiKV; the text has the place, the cause and the remedy."""


@dataclass(frozen=True, slots=True)
class TikvToml:
    """What a ``tikv.toml`` says."""

    values: Mapping[str, Value]
    """Keys of the model, as a scenario writes them under ``tikv``."""
    renamed: Mapping[str, str]
    """Old names that were found, and the present one."""
    gone: tuple[str, ...]
    """Keys that TiKV no longer has."""
    not_modelled: tuple[str, ...]
    """Keys that the model does not have."""
    written: Mapping[str, Any]
    """Every key with its value, as the file has them."""


def read_tikv_toml(path: Path) -> TikvToml:
    """Returns what a file says.

    Raises:
        TikvTomlError: if it cannot be read, is no TOML or another program's, or a key has a value
            TiKV would refuse.
    """
    known = _known()
    values: dict[str, Value] = {}
    renamed: dict[str, str] = {}
    others: list[str] = []
    document = _document(path)
    _refuse_others(path, document)
    written = dict(_flat(_with_tables(path, document, known)))
    for key, value in written.items():
        now = RENAMED.get(key, key)
        if now not in known:
            others.append(key)
            continue
        if now != key:
            renamed[key] = now
            if now in values:
                continue
        try:
            values[now] = _as_written(value, known[now], now)
            known[now].parse(values[now])
        except ValueError as error:
            raise TikvTomlError(f"{path}: {key}: {error}") from None
    return TikvToml(
        values=values,
        renamed=renamed,
        gone=tuple(key for key in others if key in GONE),
        not_modelled=tuple(key for key in others if key not in GONE),
        written=written,
    )


def _known() -> dict[str, Form]:
    return {
        name: key.form
        for name, key in keys_of(Tikv).items()
        if "." in name and _OURS not in key.description
    }


MODELLED: Final = frozenset(_known())
"""Keys of TiKV that the model has."""


def _document(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise TikvTomlError(f"{path}: {error.strerror}; check the name") from None
    if len(content) > MOST_BYTES:
        raise TikvTomlError(f"{path}: is larger than 1 MiB, not a tikv.toml; check the name")
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise TikvTomlError(f"{path}: is not text; check the name") from None
    except RecursionError:
        raise TikvTomlError(f"{path}: is nested too deeply; no tikv.toml is") from None
    except tomllib.TOMLDecodeError as error:
        raise TikvTomlError(f"{path}: {error}; fix the TOML there") from None


def _refuse_others(path: Path, document: Mapping[str, Any]) -> None:
    """Refuses the configuration of another program, of which the model would take a few keys."""
    for program, names in _OTHERS.items():
        theirs = [key for key in document if key in names]
        if theirs and _OF_TIKV.isdisjoint(document):
            message = f"looks like the configuration of {program} (it has {theirs[0]})"
            raise TikvTomlError(f"{path}: {message}; name TiKV's own file")


def _with_tables(path: Path, document: dict[str, Any], known: Mapping[str, Form]) -> dict[str, Any]:
    """Returns the document; refuses a value where TiKV has a table."""
    for key in {name.partition(".")[0]: None for name in known}:
        if not isinstance(document.get(key, {}), dict):
            value = shown(document[key])
            raise TikvTomlError(f"{path}: {key}: is {value}; write a table, [{key}]")
    return document


def _flat(tables: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tables.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _as_written(value: Any, form: Form, key: str) -> Value:
    """Returns a value as a scenario writes it.

    Raises:
        ValueError: if it is none that TiKV takes.
    """
    if not isinstance(form, Quantity):
        if isinstance(value, bool | int | float | str):
            return value
        raise ValueError(f"is {shown(value)}; write one value")
    if form.kind is SIZE:
        return SIZE.text_of(size_bytes(value))
    return DURATION.text_of(_duration_ns(value, key))


def same_value(value: object, other: object) -> bool:
    """Returns whether TiKV takes two values for the same: ``1GB`` is ``1024MB``, ``1m`` ``60s``."""
    if isinstance(value, str) and isinstance(other, str):
        for parse in (size_bytes, lambda text: _duration_ns(text, "")):
            try:
                return parse(value) == parse(other)
            except ValueError:
                continue
    return type(value) is type(other) and value == other


def size_bytes(value: Any) -> int:
    """Returns the bytes of a size as TiKV writes it.

    Raises:
        ValueError: if it is none.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    found = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{1,9})?)\s*([KMGTP]?)(i?B?)\s*", str(value))
    if found is None or not isinstance(value, str) or found[3] == "i":
        raise ValueError(f"{shown(value)} is not a size; write, for example, 512KiB")
    return int(Fraction(found[1]) * 1024 ** _POWERS[found[2].lower()])


def _duration_ns(value: Any, key: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and key.startswith("pessimistic-txn"):
        return value * NS_PER_MS
    text = value if isinstance(value, str) else ""
    parts = re.findall(r"(\d{1,15}(?:\.\d{1,9})?)(ms|us|d|h|m|s)", text)
    if not parts or "".join(number + unit for number, unit in parts) != text.replace(" ", ""):
        raise ValueError(f"{shown(value)} is not a duration; write, for example, 20ms")
    return int(sum(Fraction(number) * _DURATIONS[unit] for number, unit in parts))
