"""A leader's lease: until when it may serve without asking a quorum.

Invariant: a lease begins when the message was sent that a quorum has answered, never when the
answers arrived. Nobody else writes it: whoever must end a lease says so here.

Source: tikv/tikv components/raftstore/src/store/util.rs (Lease), peer.rs
(maybe_renew_leader_lease).
"""

from typing import Final

_EXPIRED: Final = -1
"""Before any run began."""


class Lease:
    """The lease of one replica; expired unless it leads."""

    __slots__ = ("until_ns",)

    def __init__(self) -> None:
        self.until_ns = _EXPIRED
        """Read by whoever serves; written here only."""

    def renew(self, sent_ns: int, lease_ns: int) -> None:
        """Extends the lease: a quorum has answered what was sent at ``sent_ns``."""
        until_ns = sent_ns + lease_ns
        if until_ns > self.until_ns:
            self.until_ns = until_ns

    def expire(self) -> None:
        """Ends the lease: leadership is given up, handed over, or no longer certain."""
        self.until_ns = _EXPIRED
