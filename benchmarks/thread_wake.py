"""What a thread costs another that it wakes: the CPU of a handover, and how long it takes.

Two threads take turns: each waits for a condition variable that the other signals. On one hardware
thread that is a change of context; on two, the one that wakes sends an interrupt to a processor
that is idle, and the kernel there has to notice. In the model all of a wake-up is CPU
(docs/MODEL.md).

Run it with ``python -m benchmarks.thread_wake``; it needs a C++ compiler and two processors.
"""

from __future__ import annotations

from typing import Final

from benchmarks.kernel_cpp import said_by

_HANDOVERS: Final = 400_000
_SOURCE: Final = """
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <sched.h>
#include <thread>

std::mutex mutex;
std::condition_variable turned;
int turn;

void take_turns(int number, int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  sched_setaffinity(0, sizeof set, &set);
  for (long left = HANDOVERS / 2; left > 0; left--) {
    std::unique_lock<std::mutex> lock(mutex);
    turned.wait(lock, [&] { return turn == number; });
    turn = 1 - number;
    turned.notify_one();
  }
}

int main() {
  for (int processors = 1; processors <= 2; processors++) {
    turn = 0;
    const auto begun = std::chrono::steady_clock::now();
    const std::clock_t before = std::clock();
    std::thread one(take_turns, 0, 0), other(take_turns, 1, processors - 1);
    one.join();
    other.join();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begun;
    const double cpu = double(std::clock() - before) / CLOCKS_PER_SEC;
    std::printf("%d processors: %.1f us, of CPU %.1f us\\n", processors,
                wall.count() / HANDOVERS * 1e6, cpu / HANDOVERS * 1e6);
  }
}
"""


if __name__ == "__main__":
    print(said_by(_SOURCE, "-pthread", f"-DHANDOVERS={_HANDOVERS}L"), end="")
