"""Every profile can be used, and says where its figures are from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from analysis.study.load import load_study
from sim.distributions import Spiky
from sim.scenario.profiles import profiles
from sim.scenario.schema.hardware import DiskSection, Hardware, NetworkSection
from sim.scenario.section import Section, keys_of

KEYS = {"disks": "hardware.disk.raft", "networks": "hardware.network",
        "machines": "hardware.profile"}  # fmt: skip
SECTIONS: dict[str, type[Section]] = {
    "disks": DiskSection,
    "networks": NetworkSection,
    "machines": Hardware,
}
ALL = [(file, name) for file in KEYS for name in profiles(file)]
SCENARIO = "workload: {kind: tpcc, warehouses: 1, threads: 1}\n"


@pytest.mark.parametrize(("file", "name"), ALL)
def test_can_be_used(file: str, name: str, tmp_path: Path) -> None:
    scenario = tmp_path / "x.yaml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    study = load_study(scenario, [f"{KEYS[file]}={name}"])
    hardware = study.variants["in_memory"].hardware
    if file == "disks":
        assert hardware.raft_disk.name == name
    if file == "machines":
        assert hardware.profile == name


def is_figure(key: str, figures: dict[str, Any]) -> bool:
    """Returns whether a dotted key names a figure that a profile writes."""
    there: Any = figures
    for part in key.split("."):
        if not isinstance(there, dict) or part not in there:
            return False
        there = there[part]
    return True


def network_of(machine: dict[str, Any]) -> dict[str, Any]:
    network = machine["network"]
    name = network if isinstance(network, str) else network["profile"]
    figures: dict[str, Any] = profiles("networks")[name].plain()
    return figures


@pytest.mark.parametrize(("file", "name"), ALL)
def test_has_a_source_and_names_what_is_assumed(file: str, name: str) -> None:
    figures = profiles(file)[name].plain()
    assumed = figures.get("assumed", [])
    sources = [part.strip() for part in figures["source"].split(";")]
    assert all(sources)
    for key in assumed:
        assert (
            is_figure(key, figures)
            or key in keys_of(SECTIONS[file])
            or (file == "machines" and is_figure(key.removeprefix("network."), network_of(figures)))
        ), key
    if sources == ["assumed"]:
        assert figures.keys() - {"source", "assumed"} <= set(assumed)


def test_a_key_beside_the_profile_replaces_its_figure(tmp_path: Path) -> None:
    scenario = tmp_path / "x.yaml"
    scenario.write_text(
        SCENARIO + "hardware:\n"
        "  profile: gp3_max\n"
        "  store_cores: 4\n"
        "  disk: {raft: {write_iops: 5000}, kv: nvme_i4i_4xlarge}\n",
        encoding="utf-8",
    )
    hardware = load_study(scenario).variants["in_memory"].hardware
    assert hardware.store_cores == 4
    assert hardware.raft_disk.write_iops == 5_000
    assert hardware.raft_disk.write_bytes_per_s == 1_000 << 20
    assert isinstance(hardware.raft_disk.append, Spiky)
    assert hardware.kv_disk is not None
    assert hardware.kv_disk.name == "nvme_i4i_4xlarge"


def test_a_new_distribution_replaces_the_whole_of_the_profiles(tmp_path: Path) -> None:
    scenario = tmp_path / "x.yaml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    study = load_study(scenario, ["hardware.disk.raft.append={mean: 1ms}"])
    assert not isinstance(study.variants["in_memory"].hardware.raft_disk.append, Spiky)
