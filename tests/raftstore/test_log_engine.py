"""Proves: who waits for whom in the raft log's write groups (RocksDB ``db/write_thread.cc``)."""

from __future__ import annotations

from typing import Final

import pytest

from sim.distributions import Constant
from sim.engine import Cores, LeanEnv
from sim.hardware import Disk, DiskSpec
from sim.protocol.write_batch import CAUSE_NAMES
from sim.raftstore.disk_bytes import DiskBytes
from sim.raftstore.log_engine import LogEngine, LogFormat
from sim.record import MemorySink, Recorder
from sim.streams import Streams
from sim.units import NS_PER_S

WRITE_NS: Final = 1_000
WAKE_NS: Final = 30


def durable_at(joins_ns: list[int], cores: Cores | None) -> list[int]:
    """Lets writers join at given times; returns when each goes on, in nanoseconds."""
    env, recorder = LeanEnv(), Recorder(NS_PER_S, MemorySink())
    disk = Disk(DiskSpec("log", 10**15, 10**12, Constant(WRITE_NS)), Streams(1, 0).stream("log"))
    log = LogEngine(
        env,
        disk,
        LogFormat(
            raft_engine=True,
            file="recycled",
            file_system="ext4-without-journal",
            compression=1.0,
            compress_above_bytes=0,
            rewrite=0.0,
        ),
        DiskBytes(recorder),
        [recorder.counter("raft_entry_bytes", cause) for cause in CAUSE_NAMES],
        cores=cores,
    )
    went_on_ns = [0] * len(joins_ns)

    def go_on(writer: int) -> None:
        went_on_ns[writer] = env.now_ns

    def join(writer: int) -> None:
        log.write([], go_on, writer, hard_states=1)

    for writer, at_ns in enumerate(joins_ns):
        env.at(at_ns, join, writer)
    env.run_until(NS_PER_S)
    return went_on_ns


@pytest.mark.parametrize(
    ("joins_ns", "went_on_ns"),
    [
        pytest.param([0], [1_000], id="nobody has to be woken"),
        pytest.param([0, 500], [1_000, 2_030], id="the next leader is woken, and goes on at once"),
        pytest.param([0, 500, 600, 700], [1_000, 2_030, 2_060, 2_060], id="the led ones wake"),
        pytest.param([0, 500, 600, 1_100], [1_000, 2_030, 2_060, 3_060], id="as the next does"),
        pytest.param([0, 2_000], [1_000, 3_000], id="who finds an idle log leads at once"),
    ],
)
def test_a_leader_goes_on_while_the_led_ones_and_the_next_leader_wake(
    joins_ns: list[int], went_on_ns: list[int]
) -> None:
    assert durable_at(joins_ns, Cores(64, hop_ns=WAKE_NS)) == went_on_ns


def test_callbacks_of_one_process_are_not_woken() -> None:
    assert durable_at([0, 500, 600], None) == [1_000, 2_000, 2_000]
