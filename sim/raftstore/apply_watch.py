"""Who is told by the apply pool what has been applied.

Source: tikv/tikv components/raftstore/src/store/fsm/apply.rs (ApplyRes, callbacks).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from sim.failpoints import Holds
    from sim.probe import Probes
    from sim.protocol.raft.log import Entry
    from sim.raftstore.peer import Peer
    from sim.raftstore.proposal import AdminProposal
    from sim.storage.request import KvRequest


class ApplyWatch:
    """Who is told what has been applied."""

    __slots__ = (
        "holds",
        "on_admin",
        "on_applied",
        "on_migrated",
        "on_noop",
        "on_progress",
        "on_stale",
        "probe",
    )

    def __init__(  # noqa: PLR0913 - one call each
        self,
        *,
        on_applied: Callable[[KvRequest], None],
        on_stale: Callable[[KvRequest], None],
        on_admin: Callable[[Peer, AdminProposal, Entry], None],
        on_noop: Callable[[Peer], None],
        on_migrated: Callable[[Peer, Entry], bool],
        on_progress: Callable[[Peer], None],
        probe: Probes,
        holds: Holds,
    ) -> None:
        self.on_applied = on_applied
        self.on_stale = on_stale
        """For a command that was skipped where it was proposed: its region's version is over."""
        self.on_admin = on_admin
        """Carries out an admin command on one replica."""
        self.on_noop = on_noop
        """For a new leader's empty entry: all that was committed before is applied."""
        self.on_migrated = on_migrated
        """For locks on the move; returns whether this store understands them."""
        self.on_progress = on_progress
        """For a peer that is being merged."""
        self.probe = probe
        self.holds = holds
