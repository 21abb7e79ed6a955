"""Measurements with anything in place of anything: used, or refused in a line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from analysis.calibration.disk_profile import profiles_of
from analysis.calibration.fio_file import read_fio
from analysis.calibration.network_file import read_network
from analysis.calibration.network_profile import network_of
from analysis.calibration.profile_text import yaml_of
from analysis.calibration.prometheus_file import read_stages
from analysis.calibration.refusal import CalibrationError
from analysis.calibration.tikv_profile import tikv_of
from sim.streams import Stream, Streams

TESTDATA = Path(__file__).resolve().parents[1] / "testdata"
ALONE = TESTDATA / "fio" / "seqwrite_4k_fdatasync_qd1_overwrite.json"
WRONG: list[Any] = [
    None, 0, -1, 1e308, float("nan"), float("inf"), "x", "", [], {}, [1], {"a": 1}, True, "1e999",
    10**30, "\0", "4k",
]  # fmt: skip


def _disk(path: Path) -> str:
    return "".join(map(yaml_of, profiles_of([read_fio(path), read_fio(ALONE)], "x")))


def _network(path: Path) -> str:
    return network_of(read_network(path), "x").text


def _tikv(path: Path) -> str:
    return tikv_of(TESTDATA / "calibration" / "tikv.toml", read_stages(path)).text


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yields the paths of all values; of a histogram's bins only the first."""
    if path:
        yield path
    if not isinstance(value, dict | list):
        return
    entries = list(value.items() if isinstance(value, dict) else enumerate(value))
    for key, child in entries[:1] if "bins" in path else entries:
        yield from _places(child, (*path, key))


def _damaged(document: Any, stream: Stream) -> Any:
    damaged = deepcopy(document)
    places = list(_places(damaged))
    *before, last = places[stream.randint(0, len(places) - 1)]
    holder = damaged
    for step in before:
        holder = holder[step]
    if isinstance(holder, dict) and stream.random() < 0.3:
        del holder[last]
    else:
        holder[last] = WRONG[stream.randint(0, len(WRONG) - 1)]
    return damaged


@pytest.mark.parametrize(
    ("file", "read"),
    [
        ("fio/seqwrite_4k_fdatasync_jobs2_falloc.json", _disk),
        ("fio/randread_4k_direct_qd1.json", _disk),
        ("calibration/iperf3.json", _network),
        ("calibration/stages.json", _tikv),
    ],
)
def test_damage_is_refused_or_harmless(
    tmp_path: Path, file: str, read: Callable[[Path], str]
) -> None:
    document = json.loads((TESTDATA / file).read_text())
    stream = Streams(1, 0).stream(file)
    path = tmp_path / "damaged.json"
    refusals = []
    for _ in range(100):
        path.write_text(json.dumps(_damaged(document, stream)))
        try:
            made = read(path)
        except CalibrationError as error:
            refusals.append(str(error))
        else:
            for part in made.split("# Disk"):
                yaml.safe_load(f"#{part}")
    assert 10 < len(refusals) < 100
    assert all(text.startswith(str(tmp_path)) and "\n" not in text for text in refusals)
