"""What the numbers rest on: unpublished inputs, and what the model leaves out.

What ``docs/MODEL.md`` says of the model, as plain text for the page.

Law: the model's own page is the one place where the model is described; a report quotes it. Without
that page (sources that were copied without docs) there is nothing to quote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

from analysis.page.content import Aside, Block, Items, Paragraph
from analysis.page.findings import Findings
from analysis.program import ROOT, USUAL
from analysis.report.table import ReportTable, texts
from analysis.study.interpolation import amount_of
from sim.scenario.profiles import DEFAULT_MACHINE, profiles
from sim.scenario.schema.hardware import CpuCosts, DiskSection, LsmSpec
from sim.scenario.section import Section, keys_of
from sim.scenario.tree import Node

_SECTIONS: Final[tuple[tuple[str, type[Section]], ...]] = (
    ("hardware.cpu", CpuCosts),
    ("hardware.lsm", LsmSpec),
    ("hardware.disk.raft", DiskSection),
)
_PROFILE: Final = "hardware.profile"
_NETWORK: Final = "hardware.network"
_SOURCE: Final = re.compile(r"\bSource: (?P<source>.*)$", re.DOTALL)


Assumed = tuple[str, str, str]
"""An input that is no published figure: its key, as a scenario writes it; the value that the
resolved scenario has, empty if it differs from point to point; what is known of it."""


def assumption_blocks(found: Findings) -> Iterator[Block]:
    """Yields the assumed inputs of this study, then the model's simplifications."""
    inputs = {one[0]: one for one in reversed([*assumed_inputs(found.base, found.points)])}
    if inputs:
        yield ReportTable(
            "Unpublished inputs",
            ("input", "value", "why"),
            tuple(texts(*one) for one in reversed(inputs.values())),
            (
                "Everything else has a source, in scenarios/profiles and in the schema "
                f"({USUAL} schema). A sensitivity study shows which of these would change the "
                "answer.",
            ),
            (0, 1, 2),
        )
    yield Items(tuple(_standing(found)))
    rows = tuple(texts(*row) for row in simplifications())
    if rows:
        table = ReportTable(
            "", ("what is simplified", "why", "likely effect"), rows, words=(0, 1, 2)
        )
        yield Aside(f"What the model omits: {len(rows)} simplifications", (table,))
    else:
        yield Paragraph("What the model omits: docs/MODEL.md.")


def _standing(found: Findings) -> Iterator[str]:
    """Yields what has to be kept in mind with any study."""
    yield (
        "This is a simulation. Differences and ratios between variants are its product; absolute "
        "figures carry the error of CPU costs that were fitted to one published cluster."
    )
    run = found.base["run"]
    yield (
        f"Each run measures {run['measure']}. What takes longer to build up (compaction debt, a "
        "cache that fills, a volume's burst credit) is not in it."
    )
    if found.base["hardware"]["lsm"]["write_amplification"] == 1:
        yield (
            "Write amplification is 1, flush only: savings of disk writes are those of a short "
            "test. After hours of compaction the share of locks in all bytes is smaller."
        )
    if found.base["workload"].get("threads") is not None:
        yield (
            "Clients wait for each answer (closed loop): a faster variant is asked to do "
            "more, so its bytes per second and busy stations belong to a higher throughput."
        )


def assumed_inputs(
    document: Mapping[str, Any], points: Sequence[Mapping[str, Any]] = ()
) -> Iterator[Assumed]:
    """Yields the inputs of a resolved scenario that are assumed or fitted.

    Args:
        document: the resolved scenario. A profile's figure that the scenario has replaced is the
            scenario's own, so it is left out.
        points: settings of swept keys; each hardware profile among them counts.
    """
    swept = dict.fromkeys(str(point[_PROFILE]) for point in points if _PROFILE in point)
    machines = list(swept) or [str(_at(document, _PROFILE) or DEFAULT_MACHINE)]
    yield from _of_profiles(document, machines)
    for path, section in _SECTIONS:
        for name, key in keys_of(section).items():
            said = _SOURCE.search(key.description)
            source = said["source"].strip().rstrip(".") if said else ""
            given = _at(document, f"{path}.{name}")
            unchanged = given is None or _same(given, key.default)
            if source.startswith(("assumed", "fit")) and unchanged:
                why = "fitted to published benchmarks" if source == "fit" else source
                yield f"{path}.{name}", _shown(key.default), why


def _of_profiles(document: Mapping[str, Any], machines: Sequence[str]) -> Iterator[Assumed]:
    """Yields the assumed figures of each machine that a study runs on, its disks and network."""
    for machine in machines:
        own = document if len(machines) == 1 else {}
        if machine not in profiles("machines"):
            continue
        entries = profiles("machines")[machine].entries
        yield from _unpublished("machines", machine, "hardware", own)
        yield from _unpublished("networks", _name_of(entries.get("network")), _NETWORK, own)
        for slot in ("raft", "kv"):
            path = f"hardware.disk.{slot}"
            named = _at(own, f"{path}.name") or _name_of(entries["disk"].entries.get(slot))
            yield from _unpublished("disks", str(named), path, own)


def _name_of(node: Node | None) -> str:
    """Returns the profile that a node names, alone or among figures."""
    if node is None:
        return ""
    if isinstance(node.value, str):
        return node.value
    named = node.entries.get("profile")
    return "" if named is None else str(named.value)


def _unpublished(file: str, name: str, path: str, document: Mapping[str, Any]) -> Iterator[Assumed]:
    """Yields what a profile assumes; nothing for a name that is no profile."""
    profile = profiles(file).get(name)
    assumed = None if profile is None else profile.entries.get("assumed")
    if profile is None or assumed is None:
        return
    for key in assumed.plain():
        found = profile.find(tuple(str(key).split(".")))
        figure = None if found is None else found.plain()
        given = _at(document, f"{path}.{key}")
        if given is None or figure is None or _same(given, figure):
            shown = given if given is not None else figure
            why = f"assumed in the profile {name}"
            yield f"{path}.{key}", "" if shown is None else _shown(shown), why


def _same(given: Any, known: Any) -> bool:
    """Returns whether two figures are one, however they are written: 5.1ms and 5100us."""
    if isinstance(given, Mapping) and isinstance(known, Mapping):
        return all(key in given and _same(given[key], known[key]) for key in known)
    try:
        return bool(amount_of(given) == amount_of(known))
    except (ValueError, TypeError):
        return str(given) == str(known)


def _at(document: Mapping[str, Any], path: str) -> Any:
    """Returns what a document has under a dotted path; a name in its way has no more below it."""
    here: Any = document
    for word in path.split("."):
        here = here.get(word) if isinstance(here, Mapping) else None
    return here


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_shown(part)}" for key, part in value.items())
    return "not given" if value is None else str(value)


MODEL: Final = ROOT / "docs" / "MODEL.md"
_LINK: Final = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_SIMPLIFIED: Final = "What is simplified, and what that does"


@cache
def _sections() -> dict[str, str]:
    """Returns the text below each heading of the second level."""
    try:
        text = MODEL.read_text(encoding="utf-8")
    except OSError:
        return {}
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def paragraph(heading: str, begins: str) -> str:
    """Returns the paragraph of a section that begins so, without markup; empty if there is none."""
    for part in _sections().get(heading, "").split("\n\n"):
        text = _plain(" ".join(part.split()))
        if text.startswith(begins):
            return text
    return ""


def simplifications() -> list[tuple[str, str, str]]:
    """Returns what is simplified, why, and the likely effect."""
    lines = [line for line in _sections().get(_SIMPLIFIED, "").splitlines() if line[:1] == "|"]
    rows = [tuple(_plain(cell.strip()) for cell in line.strip("|").split("|")) for line in lines]
    return [(row[0], row[1], row[2]) for row in rows[2:] if len(row) == 3]


def _plain(text: str) -> str:
    """Returns Markdown as text: links by their words, no emphasis, no code marks."""
    return _LINK.sub(r"\1", text).replace("**", "").replace("`", "").replace("*", "")
