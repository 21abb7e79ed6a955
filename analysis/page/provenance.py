"""How to make these numbers again: versions, commit, seed, hashes and the command."""

from __future__ import annotations

import hashlib
import shlex
import time
from collections.abc import Iterator

from analysis.page.content import Aside, Block, Code, PageTable, Paragraph, texts
from analysis.page.findings import Findings
from analysis.program import USUAL
from analysis.report.manifest import commit, host_words, package_versions

_LONGEST_ASIDE = 60_000
"""Characters of a resolved scenario up to which the page holds it."""


def provenance_blocks(found: Findings) -> Iterator[Block]:
    """Yields what a reader needs to get the same numbers, byte by byte."""
    scenario = found.run.study.resolved_yaml()
    units = "".join(unit.unit_hash for unit in found.run.done)
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
        ("hash of all units", hashlib.sha256(units.encode()).hexdigest()),
        ("hash of the scenario", hashlib.sha256(scenario.encode()).hexdigest()),
        ("versions", versions),
        ("host", host_words()),
        ("Spark", found.run.master or "not started"),
        ("wall time", f"{time.perf_counter() - found.run.begun_s:,.0f} s"),
    )
    yield PageTable("Provenance", ("", ""), tuple(texts(*row) for row in rows), words=(0, 1))
    if len(scenario) <= _LONGEST_ASIDE:
        yield Aside("The scenario, resolved", (Code(scenario),))
