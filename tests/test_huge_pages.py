"""A growing process comes to lie in huge pages, and keeps what it had."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from sim.huge_pages import HugePages, join_pages

_ROOT: Final = Path(__file__).resolve().parents[1]
_ENABLED: Final = Path("/sys/kernel/mm/transparent_hugepage/enabled")

_GROW: Final = """
from tests.test_huge_pages import huge_kib
from sim.huge_pages import HugePages
pages = HugePages()
pages.keep_up()
before = huge_kib()
kept = [bytes((number % 256,)) * 100 for number in range(400_000)]
pages.keep_up()
assert all(each == bytes((number % 256,)) * 100 for number, each in enumerate(kept))
print(before, huge_kib())
"""


def huge_kib() -> int:
    """Returns how much of this process's memory lies in huge pages."""
    rollup = Path("/proc/self/smaps_rollup").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in rollup.splitlines() if "AnonHugePages" in line)


def _kernel() -> tuple[int, ...]:
    version = Path("/proc/sys/kernel/osrelease").read_text(encoding="ascii")
    return tuple(int(part) for part in version.split("-")[0].split(".")[:2])


@pytest.mark.skipif(
    not _ENABLED.exists()
    or "[never]" in _ENABLED.read_text(encoding="ascii")
    or _kernel() < (6, 1),
    reason="this kernel joins no pages",
)
def test_what_has_grown_lies_in_huge_pages() -> None:
    command = [sys.executable, "-c", _GROW]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=_ROOT)
    before, after = map(int, done.stdout.split())
    assert after - before > 20 << 10


def test_a_process_that_does_not_grow_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[None] = []
    monkeypatch.setattr("sim.huge_pages.join_pages", lambda: calls.append(None))
    pages = HugePages()
    pages.keep_up()
    assert not calls
    monkeypatch.setattr("sim.huge_pages._resident_kib", lambda: 1 << 40)
    pages.keep_up()
    pages.keep_up()
    assert len(calls) == 1


def test_joining_needs_no_kernel_that_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.huge_pages._MADV_COLLAPSE", 9999)  # As a kernel before 6.1 sees it.
    join_pages()
