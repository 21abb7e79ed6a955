"""Units that go wrong in ways that an exception does not cover, for tests of what runs them."""

from __future__ import annotations

import errno
import os
import signal
import time
from pathlib import Path

from sim.record import FactSink
from sim.scenario import Scenario
from sim.unit_result import UnitResult
from tests.stub_model import run_unit


def kill_worker_once(scenario: Scenario, replication: int, sink: FactSink) -> UnitResult:
    """Kills its own process the first time; the study's name is the path of a marker."""
    marker = Path(scenario.about)
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return run_unit(scenario, replication, sink)


def kill_worker_in_memory(scenario: Scenario, replication: int, sink: FactSink) -> UnitResult:
    """Kills its own process whenever it runs the in-memory variant."""
    if scenario.tikv.lock_mode == "in_memory":
        os._exit(9)
    return run_unit(scenario, replication, sink)


def kill_worker_with_neighbours(scenario: Scenario, replication: int, sink: FactSink) -> UnitResult:
    """Kills its own process as long as fewer than two other units are whole."""
    units = Path(scenario.about)
    if scenario.tikv.lock_mode == "in_memory" and sum(1 for _ in units.glob("*/unit.json")) < 2:
        os._exit(9)
    return run_unit(scenario, replication, sink)


def fill_the_disk(scenario: Scenario, replication: int, sink: FactSink) -> UnitResult:
    """Fails as a full disk does, from the third replication on."""
    if replication == 2:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return run_unit(scenario, replication, sink)


def fail_then_dawdle(scenario: Scenario, replication: int, sink: FactSink) -> UnitResult:
    """Fails at once in one variant and takes long in the others."""
    if scenario.tikv.lock_mode == "pipelined":
        raise ValueError("no such disk")
    time.sleep(1.0)
    return run_unit(scenario, replication, sink)
