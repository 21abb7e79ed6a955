"""What a cost that was measured here is on the machine whose costs were fitted.

Costs of CPU are those of an i3.4xlarge, whose cores run at 2.7 GHz when all are busy. A cost that
is measured here is multiplied by the ratio of the clocks, and by what newer cores do more in a
cycle. What the kernel says of a virtual machine's clock is not what its cores run at: a chain of
additions, each of which needs the one before, takes a cycle for each.
"""

from __future__ import annotations

from typing import Final

from benchmarks.kernel_cpp import said_by

FITTED_GHZ: Final = 2.7
"""i3.4xlarge, all cores busy: the core speed of 1."""
PER_CYCLE: Final = 1.34
"""What a core of AMD's Zen 5, on which costs were measured, does in a cycle over one of
i3.4xlarge's (Broadwell): the middle of 1.79 (AMD: Zen as much as Broadwell-E, August 2016, and 15,
19, 13 and 16 % more with Zen 2 to 5) and of 1 (7-Zip's rating over the clock)."""
_ADDITIONS: Final = 400_000_000
_SOURCE: Final = """
#include <chrono>
#include <cstdio>
int main() {
  double best = 0;
  for (int round = 0; round < 5; round++) {
    unsigned long sum = 0;
    const auto begun = std::chrono::steady_clock::now();
    for (long left = %d; left > 0; left -= 4)
      __asm__ volatile("add $1,%%0\\n add $1,%%0\\n add $1,%%0\\n add $1,%%0" : "+r"(sum));
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begun;
    if (%d / wall.count() > best) best = %d / wall.count();
  }
  std::printf("%%.4f\\n", best / 1e9);
}
"""


def slowdown() -> float:
    """Returns how many times as long the same work takes on the fitted machine as here.

    Raises:
        RuntimeError: there is no C++ compiler, or the processor is not an x86-64.
    """
    return float(said_by(_SOURCE % (_ADDITIONS, _ADDITIONS, _ADDITIONS))) / FITTED_GHZ * PER_CYCLE
