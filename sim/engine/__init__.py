"""The lean event engine: a SimPy environment with a second, cheaper way to schedule work.

Knows time, order and queues; knows nothing of disks, TiKV or transactions.
"""

from sim.engine.environment import LeanEnv
from sim.engine.process import UNTIL_WOKEN, Process, Story, Wait
from sim.engine.run_queue import RunQueues, queued_ns
from sim.engine.stations import FifoServers
from sim.engine.thread_pool import Cores, Sleep, ThreadPool, smt_slowness

__all__ = [
    "UNTIL_WOKEN",
    "Cores",
    "FifoServers",
    "LeanEnv",
    "Process",
    "RunQueues",
    "Sleep",
    "Story",
    "ThreadPool",
    "Wait",
    "queued_ns",
    "smt_slowness",
]
