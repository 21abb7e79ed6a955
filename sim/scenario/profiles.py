"""Named hardware: ``scenarios/profiles/*.yaml``, and how a scenario's figures build on it.

Law: a profile is a default. What a scenario writes beside ``profile`` replaces the profile's
figure; naming another profile replaces all figures. A machine names its disks and its network, and
each of them is a profile again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import yaml

from sim.scenario.problems import Mark, ScenarioError, shown, suggestion
from sim.scenario.reader import read_text
from sim.scenario.schema.hardware import NAMED, SHARED, Hardware
from sim.scenario.section import validated
from sim.scenario.tree import Node, Place, merged, node_of

FOLDER = __file__.removesuffix("sim/scenario/profiles.py") + "scenarios/profiles"
_LOADER: Any = __spec__.loader
"""Executors of a cluster import this from a zip: only its loader reads there, and only names that
begin as the zip's own does, so the folder is no ``Path``, which would drop a leading ``./``.
"""
DEFAULT_MACHINE = "i3.4xlarge"
_IN_C: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Every command that loads a scenario reads our own files, which have no mistakes to tell of."""


@cache
def profiles(file: str) -> dict[str, Node]:
    """Returns the profiles of ``disks``, ``networks`` or ``machines``, by name."""
    path = f"{FOLDER}/{file}.yaml"
    return read_text(_LOADER.get_data(path).decode(), path, _IN_C).entries


def expanded(root: Place) -> Place:
    """Returns a scenario whose ``hardware`` has all the figures of the profiles it names."""
    given = root["hardware"].node
    if given.value is None:
        given = given.with_value({})
    if not isinstance(given.value, dict):
        return root
    place = replace(root["hardware"], node=_with_figures(given))
    hardware = _on_its_profile(place, "machines", DEFAULT_MACHINE)
    for slot, file in NAMED.items():
        node = hardware.find(slot)
        if node is None:
            continue
        if slot == ("disk", "kv") and node.value == SHARED:
            hardware = hardware.replaced(slot, node.with_value(None))
        else:
            place = Place(as_figures(node), ("hardware", *slot), root.problems)
            hardware = hardware.replaced(slot, _on_its_profile(place, file, None))
    return replace(root, node=root.node.replaced(("hardware",), hardware))


def hardware_of(said: Mapping[str, Any], name: str) -> Hardware:
    """Returns what a scenario has whose section ``hardware`` says this.

    Args:
        said: keys of the section, as a file has them.
        name: what problems call the file.

    Raises:
        ScenarioError: if the section is wrong; places are those in a scenario.
    """
    root = expanded(Place(node_of({"hardware": said}, Mark(name)), (), []))
    hardware = validated(Hardware, root["hardware"])
    if hardware is None or root.problems:
        raise ScenarioError(root.problems)
    return hardware


def as_figures(node: Node) -> Node:
    """Returns a profile's name as the figures ``{profile: name}``; figures as they are."""
    if not isinstance(node.value, str):
        return node
    return node.with_value({"profile": node})


def _on_its_profile(place: Place, file: str, default: str | None) -> Node:
    """Returns figures with the profile they name below them."""
    given = place.node
    chosen = place["profile"].node
    if chosen.value is None:
        if default is None:
            return given
        chosen = Node(default, given.mark, given.key_mark)
    known = profiles(file)
    if not isinstance(chosen.value, str) or chosen.value not in known:
        name = chosen.value
        if isinstance(name, list | dict):
            message = f"must be the name of a profile, is {shown(name)}; {suggestion('', [*known])}"
        else:
            near = suggestion(str(name), [*known])
            message = f"no profile {shown(str(name))} in {file}.yaml; {near}"
        place["profile"].refuse(message)
        # Another profile stands in, so that the other problems are found, too.
        chosen = chosen.with_value(default or next(iter(known)))
        given = given.with_value({**given.entries, "profile": chosen})
    base = known[str(chosen.value)]
    if file == "machines":
        base = _with_figures(base)
    entries = {**base.entries, "profile": chosen}
    if file == "disks":
        entries.setdefault("name", chosen)
    return merged(given.with_value(entries), given)


def _with_figures(hardware: Node) -> Node:
    """Returns the section with every disk and network that is only named as figures."""
    for slot in NAMED:
        node = hardware.find(slot)
        if node is not None and node.value != SHARED:
            hardware = hardware.replaced(slot, as_figures(node))
    return hardware
