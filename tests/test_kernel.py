"""The kernel benchmark: the lean engine, textbook SimPy and C++ play the same model."""

from pathlib import Path

import pytest

from benchmarks import kernel_lean, kernel_naive
from benchmarks.kernel_cpp import CppTwin, compiler
from benchmarks.kernel_model import MODES, TICKS_PER_S


@pytest.mark.parametrize("mode", MODES)
def test_both_implementations_have_the_same_latencies(mode: str) -> None:
    until = TICKS_PER_S // 6
    lean, naive = kernel_lean.run(mode, 3, until), kernel_naive.run(mode, 3, until)
    assert lean.transactions > 100
    assert lean.digest() == naive.digest()
    assert lean.events * 8 < naive.events


def test_cpp_has_the_same_latencies(tmp_path: Path) -> None:
    found = compiler()
    if found is None:
        pytest.skip("no C++ compiler is installed")
    twin = CppTwin(tmp_path, found)
    for mode in MODES:
        lean = kernel_lean.run(mode, 3, TICKS_PER_S // 10)
        cpp, _ = twin.run(mode, 3, TICKS_PER_S // 10)
        assert lean.digest() == cpp.digest()


def test_the_digest_sees_every_latency() -> None:
    outcome = kernel_lean.run("pipelined", 3, TICKS_PER_S // 6)
    before = outcome.digest()
    next(latencies for latencies in outcome.lock_latencies if latencies)[-1] += 1
    assert outcome.digest() != before
