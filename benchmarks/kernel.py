"""The engine's figures: CPU time of the naive Model M over that of the lean one, with equal hashes.

A machine's speed swings between minutes, so lean and naive take turns and only a ratio of
neighbours counts: each naive run is compared with the lean runs just before and after it. The
median of the ratios is the figure. Time is that of this thread: numpy's threads spin for nobody.

Run it with ``python -m benchmarks.kernel``.
"""

from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import thread_time

from benchmarks import kernel_lean, kernel_naive
from benchmarks.kernel_cpp import CppTwin, compiler
from benchmarks.kernel_model import TICKS_PER_S, Outcome

Run = Callable[[str, int, int], Outcome]

_MODE = "pipelined"
_SEED = 1
_SIMULATED_S = 0.5
_LEAN_REPEATS = 4
"""Lean runs on each side of a naive one, so that both take seconds rather than milliseconds."""


def measure(*, tiny: bool = False) -> dict[str, float | bool | str]:
    """Returns ``kernel_speedup``, ``kernel_hash_equal`` and ``kernel_over_cpp``.

    Also events a transaction, of both sides.
    """
    simulated_s, rounds = (0.02, 1) if tiny else (_SIMULATED_S, 3)
    found = measure_kernel(simulated_s=simulated_s, rounds=rounds)
    over_cpp, hash_equal = _over_cpp(int(simulated_s * TICKS_PER_S))
    return {
        "kernel_speedup": round(found["kernel_speedup"], 1),
        "kernel_hash_equal": bool(found["kernel_hash_equal"]) and hash_equal,
        "kernel_over_cpp": over_cpp,
        "lean_events_per_txn": round(found["events_per_txn"], 1),
        "naive_events_per_txn": round(found["naive_events_per_txn"], 1),
    }


def _over_cpp(until: int) -> tuple[float | str, bool]:
    """Returns the lean side's CPU time over that of C++, and whether the hashes are equal."""
    found = compiler()
    if found is None:
        return "no C++ compiler is installed", True
    with TemporaryDirectory(prefix="pessim-bench-") as folder:
        twin = CppTwin(Path(folder), found)
        _, before_s = _timed(kernel_lean.run, until, repeats=_LEAN_REPEATS)
        cpp, cpp_s = twin.run(_MODE, _SEED, until)
        lean, after_s = _timed(kernel_lean.run, until, repeats=_LEAN_REPEATS)
    return round((before_s + after_s) / 2 / cpp_s, 1), cpp.digest() == lean.digest()


def measure_kernel(*, simulated_s: float, rounds: int) -> dict[str, float | bool]:
    """Plays Model M both ways and compares.

    Args:
        simulated_s: simulated seconds of each run; the naive one needs about eight times as much.
        rounds: naive runs.

    Returns:
        ``kernel_speedup``, ``kernel_hash_equal``, ``events_per_txn`` and ``txn_per_cpu_s`` (both of
        the lean side), ``naive_events_per_txn``, ``naive_txn_per_cpu_s``.
    """
    until = int(simulated_s * TICKS_PER_S)
    naive_s, lean_s, ratios = [], [], []
    lean, before_s = _timed(kernel_lean.run, until, repeats=_LEAN_REPEATS)
    naive = lean
    for _ in range(rounds):
        naive, between_s = _timed(kernel_naive.run, until, repeats=1)
        _, after_s = _timed(kernel_lean.run, until, repeats=_LEAN_REPEATS)
        ratios.append(2 * between_s / (before_s + after_s))
        naive_s.append(between_s)
        lean_s.append(after_s)
        before_s = after_s
    return {
        "kernel_speedup": median(ratios),
        "kernel_hash_equal": naive.digest() == lean.digest(),
        "events_per_txn": lean.events / lean.transactions,
        "txn_per_cpu_s": lean.transactions / median(lean_s),
        "naive_events_per_txn": naive.events / naive.transactions,
        "naive_txn_per_cpu_s": naive.transactions / median(naive_s),
    }


def _timed(run: Run, until: int, *, repeats: int) -> tuple[Outcome, float]:
    """Returns the outcome and the CPU seconds of one run, averaged over ``repeats``."""
    began_s = thread_time()
    outcome = run(_MODE, _SEED, until)
    for _ in range(repeats - 1):
        run(_MODE, _SEED, until)
    return outcome, (thread_time() - began_s) / repeats


if __name__ == "__main__":
    print(measure())
