"""The STRESS-DES checklist of a study: what a reader needs to judge a simulation, and repeat it.

Source: Monks et al., Strengthening the reporting of empirical simulation studies: introducing the
STRESS guidelines, Journal of Simulation 13(1), 2019.

How to make these numbers again: versions, commit, seed, hashes and the command.
"""

from __future__ import annotations

import hashlib
import shlex
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from analysis.page.assumptions import paragraph
from analysis.page.content import Aside, Block, Code, Paragraph, capital
from analysis.page.findings import Findings
from analysis.program import USUAL
from analysis.report.manifest import commit, host_words, package_versions
from analysis.report.table import ReportTable, texts
from analysis.study.units import units_digest

_LOGIC: Final = "docs/MODEL.md, “Logic: a request's way”"
_SHARING: Final = "Open source, Apache-2.0; commit and command that repeat it: below."
_REGIONS: Final = "docs/MODEL.md, “When regions move”"


def checklist(found: Findings) -> Iterator[ReportTable]:
    """Yields one table a part of the checklist."""
    parts = (
        ("1 Objectives", _objectives(found)),
        ("2 Logic", _logic(found)),
        ("3 Data", _data(found)),
        ("4 Experimentation", _experimentation(found)),
        ("5 Implementation", _implementation(found)),
        ("6 Code access", [("6.1 Sharing", _SHARING)]),
    )
    for title, items in parts:
        rows = tuple(texts(name, text) for name, text in items)
        yield ReportTable(title, ("item", "in this study"), rows, words=(0, 1))


def _objectives(found: Findings) -> Iterator[tuple[str, str]]:
    yield "1.1 Purpose", found.question or "The scenario does not say (its key about is empty)."
    outputs = paragraph("Purpose", "Outputs:").removeprefix("Outputs: ")
    yield "1.2 Model outputs", capital(outputs) or "docs/MODEL.md, “Purpose”"
    yield "1.3 Aims of experimentation", _aims(found)


def _aims(found: Findings) -> str:
    document = found.document
    variants = ", ".join(found.variants)
    told = [
        f"{len(found.variants)} variants ({variants}), {found.baseline} being the baseline"
        if len(found.variants) > 1
        else f"one variant ({variants})"
    ]
    if "capacity" in document:
        told.append("search for the greatest load that keeps a promise")
    if "sensitivity" in document:
        told.append("Morris screening, then Sobol' indices of the factors that stand out")
    if "sweep" in document:
        told.append(f"{len(found.run.study.points)} points of a sweep")
    if document.get("expect"):
        told.append(f"{len(document['expect'])} expectations that are checked")
    return f"{'; '.join(told)}."


def _logic(found: Findings) -> Iterator[tuple[str, str]]:
    document, base = found.document, found.base
    yield "2.1 Base model overview", f"{_LOGIC}: clients, TiDB, network, stores, Raft, disks."
    yield (
        "2.2 Base model logic",
        f"{_LOGIC} and “What is simplified”; TiKV's behaviour {base['tikv']['behaviour']}.",
    )
    differences = "; ".join(
        f"{name}: {_settings(settings)}"
        for name, settings in (document.get("compare") or {}).items()
    )
    yield "2.3 Scenario logic", differences or "One variant, as the scenario says."
    happens = "; ".join(map(_operation, (document.get("operations") or {}).values()))
    none = "Nothing: no operation is asked for."
    yield "2.4 What happens to the cluster", f"{happens}. {_REGIONS}." if happens else none
    yield "2.5 Entities and resources", _components(base)


def _settings(settings: Any) -> str:
    if not settings:
        return "as the scenario says"
    return ", ".join(
        f"{key} = {str(value).lower() if isinstance(value, bool) else value}"
        for key, value in settings.items()
    )


def _operation(entry: Any) -> str:
    words = dict(entry)
    name = str(words.pop("do", "?"))
    words.pop("name", None)
    return f"{name} ({', '.join(f'{key} {value}' for key, value in words.items())})"


def _components(document: Mapping[str, Any]) -> str:
    cluster, workload = document["cluster"], document["workload"]
    nodes = ", ".join(
        f"{name.replace('_', ' ')} {cluster[name]}"
        for name in ("stores", "replicas", "zones", "tidb_nodes", "regions")
        if name in cluster
    )
    asked = ", ".join(
        f"{key} {value}" for key, value in workload.items() if isinstance(value, str | int | float)
    )
    return f"Cluster: {nodes}. Workload: {asked}."


def _data(found: Findings) -> Iterator[tuple[str, str]]:
    swept = dict.fromkeys(str(point["hardware.profile"]) for point in found.points
                          if "hardware.profile" in point)  # fmt: skip
    profile = ", ".join(swept) or found.base["hardware"]["profile"]
    yield (
        "3.1 Data sources",
        f"Hardware {profile}: scenarios/profiles, with a source for each figure. TiKV and "
        "workload: docs/MODEL.md, “Data”.",
    )
    yield "3.2 Pre-processing", "None: figures are used as published, in their own units."
    yield "3.3 Input parameters", "scenario.yaml beside this report: every key, resolved."
    yield "3.4 Assumptions", "Under “Assumptions” above."


def _experimentation(found: Findings) -> Iterator[tuple[str, str]]:
    run = found.base["run"]
    warmup, cut = run.get("warmup", "auto"), "cut by MSER-5, each replication for itself"
    cut = cut if warmup == "auto" else f"{warmup} of each run left out"
    yield "4.1 Initialisation", f"The cluster begins idle, with all its rows; {cut}."
    yield "4.2 Run length", f"{run.get('measure')} measured, of simulated time."
    yield (
        "4.3 Estimation",
        f"{found.replications} a case; common random numbers across variants and points; "
        "Student's t; ratios paired, on logarithms. docs/STATISTICS.md.",
    )


def _implementation(found: Findings) -> Iterator[tuple[str, str]]:
    yield "5.1 Software", "Python, SimPy; PySpark for units and aggregation. Versions: below."
    yield (
        "5.2 Random sampling",
        "One stream for each component and purpose (PCG64, keyed by seed and name); seed "
        f"{found.base['run']['seed']}.",
    )
    yield (
        "5.3 Model execution",
        "Event queue ordered by integer nanoseconds, ties by order of entry; a unit is one "
        "process and deterministic.",
    )
    yield "5.4 System", "Below: host, cores, wall time."


_LONGEST_ASIDE = 60_000
"""Characters of a resolved scenario up to which the page holds it."""


def provenance_blocks(found: Findings) -> Iterator[Block]:
    """Yields what a reader needs to get the same numbers, byte by byte."""
    scenario = found.run.study.resolved_yaml()
    yield Paragraph("The scenario as it was run is beside this report. This command runs it again:")
    target = shlex.quote(f"{found.run.folder}/scenario.yaml")
    yield Code(f"{USUAL} {target} --out results/again")
    yield Paragraph(
        "Facts are the same byte for byte, on any machine and with any number of workers, as long "
        "as commit and versions are the same."
    )
    versions = ", ".join(f"{name} {number}" for name, number in package_versions().items())
    rows = (
        ("study", found.run.name),
        ("commit", commit() or "unknown"),
        ("seed", str(found.base["run"]["seed"])),
        ("units", f"{len(found.run.done):,} of {len(found.run.plan.units):,} done"),
        ("hash of all units", units_digest(found.run.done)),
        ("hash of the scenario", hashlib.sha256(scenario.encode()).hexdigest()),
        ("versions", versions),
        ("host", host_words()),
        ("Spark", found.run.master or "not started"),
        ("wall time", f"{time.perf_counter() - found.run.begun_s:,.0f} s"),
    )
    yield ReportTable("Provenance", ("", ""), tuple(texts(*row) for row in rows), words=(0, 1))
    if len(scenario) <= _LONGEST_ASIDE:
        yield Aside("The scenario, resolved", (Code(scenario),))
