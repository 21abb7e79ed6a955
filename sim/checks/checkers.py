"""All checkers of a unit, joined: what they watch while it runs, what they compare at its end.

Checkers observe: the model does not know them and runs the same without them. They are called
before ``LockFates``, which forgets a lock when it ends.
"""

from sim.checks.accounting import compare_locks
from sim.checks.holders import ValidHolders
from sim.checks.isolation import SnapshotIsolation
from sim.checks.lock_tables import LockTables, compare_sizes
from sim.checks.locks import KeyLocks
from sim.checks.raft_safety import RaftSafety
from sim.checks.reads import Reads
from sim.checks.replicas import compare_replicas
from sim.checks.report import Report
from sim.observers.lock_fates import LockFates, was_skipped
from sim.protocol.raft.log import Entry
from sim.raftstore.peer import Peer
from sim.server.cluster import Cluster
from sim.storage.probe import Probe, Probes

LAWS = 13
"""Laws that are checked: one holder, one valid holder, resurrection, lost update, fresh reads, no
commit below a read, accounting, a table's status, limits and sizes, a merge's fence, Raft's three
as one, equal replicas."""


class Checkers(Probe):
    """The checkers of one unit."""

    def __init__(self, cluster: Cluster, fates: LockFates, seed: int) -> None:
        self._cluster = cluster
        self._fates = fates
        self.report = Report(cluster.env, seed)
        self._raft = RaftSafety(self.report)
        self._locks = KeyLocks(self.report, fates)
        self._isolation = SnapshotIsolation(self.report, fates, cluster.tso.safe_ts)
        self._tables = LockTables(self.report)
        self._holders = ValidHolders(self.report, cluster, fates)
        self._reads = Reads(self.report, cluster.tso.safe_ts)

    def watch(self, probes: Probes) -> None:
        """Begins to watch."""
        for probe in (
            self,
            self._raft,
            self._locks,
            self._holders,
            self._tables,
            self._reads,
        ):
            probes.add(probe)

    def first_applied(self, peer: Peer, entry: Entry) -> None:
        """Passes each command on to those who look at it once."""
        if not was_skipped(peer, entry):
            for command in entry.payload:
                batch = command.batch
                self._isolation.command_applied(command, batch)
                self._locks.command_applied(command, batch)
                if batch.write_puts:
                    self._reads.command_applied(command, batch)

    def broken(self) -> list[str]:
        """Compares what can be compared now; returns every violation found so far."""
        self._locks.report_two_holders()
        compare_sizes(self.report, self._cluster)
        compare_replicas(self.report, self._cluster)
        compare_locks(self.report, self._cluster, self._fates)
        return self.report.lines()
