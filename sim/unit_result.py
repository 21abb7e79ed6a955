"""What running a unit takes and what it comes to, for every kind of unit."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from sim.engine import LeanEnv
from sim.huge_pages import HugePages
from sim.record.recorder import Recorder
from sim.scenario.resolved import Scenario
from sim.units import NS_PER_MS

_STEP_NS: Final = 20 * NS_PER_MS
"""How often the memory that a unit uses is looked at. ASSUMED; a look takes 13 us."""


@dataclass(frozen=True, slots=True)
class UnitResult:
    """What running one unit took, and whether its invariants held."""

    events: int
    """Executed entries of the event queue."""
    transactions: int
    """Transactions committed, warm-up included."""
    simulated_ns: int
    checked: int
    """Invariants that were looked at."""
    violations: tuple[str, ...]
    """One line for each invariant that did not hold."""


def run_to_end(
    scenario: Scenario,
    env: LeanEnv,
    recorder: Recorder,
    read_meter: Callable[[int], None],
    record_unfinished: Callable[[], None],
) -> None:
    """Runs a unit to its end, records what has not ended by then, and closes its facts."""
    with no_cycle_search():
        run_until(env, simulated_ns(scenario))
        now_ns = env.now_ns
        if now_ns > recorder.window * recorder.window_ns:
            read_meter(now_ns)
        record_unfinished()
        recorder.close(now_ns)


def run_until(env: LeanEnv, end_ns: int) -> None:
    """Runs to ``end_ns``, and backs the memory that this takes with huge pages as it comes."""
    pages = HugePages()
    while env.now_ns < end_ns:
        pages.keep_up()
        env.run_until(min(env.now_ns + _STEP_NS, end_ns))


def simulated_ns(scenario: Scenario) -> int:
    """Returns how long a unit of ``scenario`` runs, warm-up included, in ns."""
    return scenario.run.simulated_warmup_ns + scenario.run.measure_ns


@contextmanager
def no_cycle_search() -> Iterator[None]:
    """Switches Python's cycle collector off: the model drops no cycles; searching costs a third.

    A test counts what the collector would find after a run: nothing.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
