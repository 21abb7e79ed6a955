"""Releases of TiKV: which defaults each of them has, and what else follows from its version."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from sim.scenario import Scenario
from sim.scenario.fields import ByVersion
from sim.scenario.schema.run import Tidb
from sim.scenario.schema.tikv import Tikv
from sim.scenario.section import keys_of
from sim.scenario.versions import RELEASES, release_version
from sim.units import KIB, MIB
from tests.study.study_files import BASE, study_of, told

CHANGED = {
    key.name: key.default
    for section in (Tikv, Tidb)
    for key in keys_of(section).values()
    if isinstance(key.default, ByVersion)
}


def scenario_of(folder: Path, release: str, **given: str) -> Scenario:
    keys = [f"tikv.{key}={value}" for key, value in {"behaviour": release, **given}.items()]
    study = study_of(folder, BASE, *keys)
    return study.scenario({}, next(iter(study.variants)))


@pytest.mark.parametrize("name", CHANGED)
def test_defaults_change_in_known_releases_one_after_the_other(name: str) -> None:
    since = list(CHANGED[name].since)
    assert set(since) <= set(RELEASES[1:])
    assert all(release_version(a) < release_version(b) for a, b in pairwise(since))


# TiKV docs and release notes; tikv/tikv#16615, #16626. In memory, raft-engine, its recycled files,
# threads that write the log, MiB of a region, entries applied ahead of the disk, fair locking.
@pytest.mark.parametrize(
    ("release", "defaults"),
    [
        ("v5.4", (False, False, False, 0, 96, 0, False)),
        ("v6.0", (True, False, False, 0, 96, 0, False)),
        ("rfc77", (True, False, False, 0, 96, 0, False)),
        ("v6.1", (True, True, False, 0, 96, 0, False)),
        ("v6.5", (True, True, True, 0, 96, 0, False)),
        ("v7.1", (True, True, True, 0, 96, 0, True)),
        ("v8.1", (True, True, True, 1, 96, 0, True)),
        ("v8.2", (True, True, True, 1, 96, 1024, True)),
        ("v8.5", (True, True, True, 1, 256, 1024, True)),
    ],
)
def test_a_release_decides_what_is_not_given(
    tmp_path: Path, release: str, defaults: tuple[bool | int, ...]
) -> None:
    of = scenario_of(tmp_path, release)
    tikv = of.tikv
    assert defaults == (
        tikv.in_memory,
        tikv.raft_engine_enable,
        tikv.raft_engine_enable_log_recycle,
        tikv.store_io_pool_size,
        tikv.region_split_size_bytes // MIB,
        tikv.max_apply_unpersisted_log_limit,
        of.cluster.tidb.fair_locking,
    )


def test_what_is_given_stays(tmp_path: Path) -> None:
    keys = {"pessimistic-txn.in-memory": "true", "raftstore.store-io-pool-size": "0"}
    of = scenario_of(tmp_path, "v8.5", **keys, **{"raft-engine.enable": "false"})
    assert (of.tikv.in_memory, of.tikv.store_io_pool_size) == (True, 0)
    assert of.tikv.log_file == "growing"


@pytest.mark.parametrize(("release", "version"), [("v5.4", "5.4.0"), ("rfc77", "6.0.0")])
def test_stores_have_the_version_of_the_release(tmp_path: Path, release: str, version: str) -> None:
    assert scenario_of(tmp_path, release).cluster.store_versions == (version,) * 3


# tikv/tikv#13854, #14244.
@pytest.mark.parametrize(
    ("release", "block_kib", "by_pool"),
    [("v6.4", 64, False), ("v6.5", 64, True), ("v6.6", 32, True)],
)
def test_a_release_decides_blocks_and_who_answers(
    tmp_path: Path, release: str, block_kib: int, by_pool: bool
) -> None:
    tikv = scenario_of(tmp_path, release).tikv
    assert (tikv.block_bytes, tikv.pool_answers_proposed) == (block_kib * KIB, by_pool)


@pytest.mark.parametrize(
    ("written", "remedy"),
    [
        ("6.5", "write v6.5"),
        ("v6.5.3", "write v6.5"),
        ("v9.0", "write rfc77, or a release from v5.0 to v8.5"),
        ("new", "write rfc77, or a release from v5.0 to v8.5"),
    ],
)
def test_a_release_is_written_as_tikv_writes_it(tmp_path: Path, written: str, remedy: str) -> None:
    assert told(tmp_path, BASE, f"tikv.behaviour={written}").endswith(remedy)
