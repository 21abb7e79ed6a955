"""The three paths of a pessimistic lock, and the fallback.

- *in memory*: into the leader's lock table; answered at once;
- *pipelined*: proposed, and answered when it is proposed;
- *sync*: proposed, and answered when it is applied;
- *fallback*: a lock that was to be kept in memory and may not be (the table's status, term or
  version, or a size limit) is proposed, and answered after apply as TiKV's code does, or when it is
  proposed, as its documentation says.

In-memory locks need pipelining, and a cluster in which every store knows them: the feature gate
sees to that, unless it is forced open. The gate never closes again while the process lives, even if
an older store joins: the feature must be switched off before a downgrade. The two switches may
change while the store runs.

Source: tikv/tikv src/storage/txn/scheduler.rs (pessimistic_lock_mode,
handle_non_persistent_write_result, try_write_in_memory_pessimistic_locks), tikv/tikv#12078;
components/pd_client/src/feature_gate.rs (set_version); RFC 77, Compatibility.
"""

from __future__ import annotations

from sim.protocol.ablations import Ablations
from sim.protocol.records import Lock
from sim.raftstore.peer import Peer
from sim.record.recorder import Series
from sim.scenario.schema.tikv import Tikv
from sim.storage.probe import Probe
from sim.storage.request import KvRequest, LockPath


class LockPaths:
    """Which path locks take on one store."""

    def __init__(self, tikv: Tikv, probe: Probe, table_bytes: Series) -> None:
        """Args: ``table_bytes`` records what all in-memory locks of the store take."""
        ablations = Ablations.of(tikv.ablations)
        ignored = {"term": ablations.no_term_check, "version": ablations.no_version_check}
        self._ignored = [reason for reason, is_ignored in ignored.items() if is_ignored]
        self._probe = probe
        self._table_bytes = table_bytes
        self._fallback_is_pipelined = tikv.in_memory_fallback == "pipelined"
        self._wanted = tikv.in_memory
        self._gate_open = False
        self.pipelined = tikv.pipelined
        self.in_memory = False
        """Whether new locks are kept in memory."""
        self._decide()

    def switch_pipelined(self, *, on: bool) -> None:
        """Changes ``pessimistic-txn.pipelined`` online."""
        self.pipelined = on
        self._decide()

    def switch_in_memory(self, *, on: bool) -> None:
        """Changes ``pessimistic-txn.in-memory`` online."""
        self._wanted = on
        self._decide()

    def open_gate(self) -> None:
        """Lets the feature be used: the cluster's version allows it."""
        self._gate_open = True
        self._decide()

    def process_started(self) -> None:
        """Begins with a gate that is closed: the process does not know the cluster's version."""
        self._gate_open = False
        self._decide()

    def _proposed(self) -> LockPath:
        return LockPath.PIPELINED if self.pipelined else LockPath.SYNC

    def of_nothing_new(self) -> LockPath:
        """Returns the path of a request whose locks its transaction holds already."""
        return LockPath.IN_MEMORY if self.in_memory else self._proposed()

    def keeps_in_memory(
        self, request: KvRequest, peer: Peer, locks: list[tuple[bytes, Lock]]
    ) -> bool:
        """Writes locks to the table of ``peer``, or says how they are to be proposed.

        Returns whether they are in memory. If not, ``request`` has its path, the reason of a
        fallback, and whether it is answered when proposed.
        """
        if not self.in_memory:
            request.path = self._proposed()
            request.reply_at_proposed = self.pipelined
            if self.pipelined and self._wanted and not self._gate_open:
                self._probe.mark("gate.closed")
            return False
        table = peer.locks
        refusal = table.refusal(request.term, request.region.epoch.version)
        if refusal is not None and refusal in self._ignored:
            refusal = None
        if refusal is None and table.insert(locks):
            request.path = _IN_MEMORY
            self._table_bytes.add(table.instance.used_bytes)
            return True
        request.path = LockPath.FALLBACK
        request.fallback = refusal or "full"
        request.reply_at_proposed = self._fallback_is_pipelined
        self._probe.mark(f"fallback.{request.fallback}")
        return False

    def _decide(self) -> None:
        self.in_memory = self.pipelined and self._wanted and self._gate_open


_IN_MEMORY = LockPath.IN_MEMORY
"""A global of its own: reading a member of an enum takes 70 ns."""
