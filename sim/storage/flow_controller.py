"""Delays the writes of a store whose flush and compaction fall behind.

Law: nothing is delayed while the data disk keeps up. When it does not, writes pass one at a time,
in the order in which they came, no faster than the disk writes what comes of them, and none while
more than the limit is owed. So clients write as fast as flush and compaction do, which is what
TiKV's controller aims at. Its limits are gigabytes (20 files in level 0, 5 memtables, 192 GiB of
pending compaction) and gather in minutes; that of ``KvEngine`` is reached in about a second.

Locks kept in memory write nothing and pass. What other stores' leaders write is not delayed here.

Source: tikv/tikv src/storage/txn/flow_controller/singleton_flow_controller.rs,
src/storage/txn/scheduler.rs (handle_flow_control), src/storage/config.rs (FlowControlConfig).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from sim.engine import LeanEnv, Story
from sim.raftstore.kv_engine import KvEngine
from sim.storage.request import KvRequest


class FlowController:
    """Commands of one store that wait until its data disk has caught up."""

    def __init__(
        self, env: LeanEnv, engine: KvEngine, release: Callable[[KvRequest], object]
    ) -> None:
        """Args: ``release`` is called with each command that has waited."""
        self._engine = engine
        self._release = release
        self._env = env
        self._waiting: deque[KvRequest] = deque()
        self._runs = False

    @property
    def throttles(self) -> bool:
        """Whether a write has to wait."""
        return self._engine.is_behind or self._runs

    def delay(self, request: KvRequest) -> None:
        """Lets a command that has something to write wait for its turn."""
        self._waiting.append(request)
        if not self._runs:
            self._runs = True
            self._env.process(self._run())

    def crash(self) -> None:
        """Forgets who waits: the process has died."""
        self._waiting.clear()

    def _run(self) -> Story:
        """Lets one after the other pass, until nobody waits."""
        while self._waiting:
            overdue_ns = self._engine.overdue_ns()
            if overdue_ns > 0:
                yield overdue_ns
            else:
                request = self._waiting.popleft()
                assert request.batch is not None, "only writes are delayed"
                self._release(request)
                yield self._engine.writing_ns(request.batch)
        self._runs = False
