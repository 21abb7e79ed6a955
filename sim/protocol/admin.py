"""Admin commands: what changes a region itself, and which proposals that forbids meanwhile.

Law: a command that changes the region's version makes every write proposed after it, and applied
after it, fail. So a leader does not even propose such a write: it waits for the admin command and
then fails with EpochNotMatch. A change of replicas harms no write.

Source: tikv/tikv components/raftstore/src/store/{util.rs (admin_cmd_epoch_lookup), peer.rs
(CmdEpochChecker)}; kvproto ``raft_cmdpb.proto``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from sim.protocol.raft.log import Entry
    from sim.protocol.region import Region, RegionId

_HEADER_BYTES = 60
"""A RaftCmdRequest without its admin request: header, epoch, peer (kvproto field sizes)."""

_REGION_BYTES = 100
"""A region in a split: two keys, three peers, epoch (kvproto metapb field sizes)."""


class AdminCommand:
    """Base of all; what of the epoch it changes, and what of it must still hold at apply."""

    __slots__ = ()
    name: ClassVar[str]
    changes_version: ClassVar[bool] = False
    changes_conf_ver: ClassVar[bool] = False
    checks_version: ClassVar[bool] = True
    checks_conf_ver: ClassVar[bool] = True

    @property
    def size_bytes(self) -> int:
        """Size in the log, without the entry's own overhead."""
        return _HEADER_BYTES

    def conflicts_with(self, earlier: AdminCommand) -> bool:
        """Returns whether ``earlier``, proposed and not applied, will make this one fail."""
        return (self.checks_version and earlier.changes_version) or (
            self.checks_conf_ver and earlier.changes_conf_ver
        )


class Split(AdminCommand):
    """Cuts the region at ``keys``; the new regions are the left ones."""

    __slots__ = ("keys", "region_ids")
    name = "Split"
    changes_version = True

    def __init__(self, keys: list[bytes], region_ids: list[RegionId]) -> None:
        self.keys = keys
        self.region_ids = region_ids

    @property
    def size_bytes(self) -> int:
        """Size in the log, without the entry's own overhead."""
        return _HEADER_BYTES + sum(len(key) + 30 for key in self.keys)


class PrepareMerge(AdminCommand):
    """Stops the source of a merge; ``min_index`` is what every replica is known to have."""

    __slots__ = ("min_index", "target")
    name = "PrepareMerge"
    changes_version = True
    changes_conf_ver = True

    def __init__(self, target: Region, min_index: int) -> None:
        self.target = target
        self.min_index = min_index

    @property
    def size_bytes(self) -> int:
        """Size in the log, without the entry's own overhead."""
        return _HEADER_BYTES + _REGION_BYTES


class CommitMerge(AdminCommand):
    """Proposed to the target: takes over the source, whose log ends at ``commit``."""

    __slots__ = ("commit", "entries", "source")
    name = "CommitMerge"
    changes_version = True

    def __init__(self, source: Region, commit: int, entries: list[Entry]) -> None:
        self.source = source
        self.commit = commit
        self.entries = entries
        """What a replica of the source may not have: everything behind ``min_index``."""

    @property
    def size_bytes(self) -> int:
        """Size in the log, without the entry's own overhead."""
        return _HEADER_BYTES + _REGION_BYTES + sum(entry.size_bytes for entry in self.entries)


class RollbackMerge(AdminCommand):
    """Takes back the PrepareMerge applied at ``commit``."""

    __slots__ = ("commit",)
    name = "RollbackMerge"
    changes_version = True

    def __init__(self, commit: int) -> None:
        self.commit = commit


class PrepareFlashback(AdminCommand):
    """Closes the region for a flashback."""

    __slots__ = ()
    name = "PrepareFlashback"


class FinishFlashback(AdminCommand):
    """Opens the region again."""

    __slots__ = ()
    name = "FinishFlashback"


class TransferLeaderCommand(AdminCommand):
    """Lets the named replica answer when it has applied everything up to here.

    Since tikv/tikv#17643 (v8.5) it is not refused because of a split or merge under way.
    """

    __slots__ = ("checks", "term", "to_store")
    name = "TransferLeader"
    checks_version = False
    checks_conf_ver = False

    def __init__(self, to_store: int, term: int, *, checks_epoch: bool) -> None:
        self.to_store = to_store
        self.term = term
        self.checks = checks_epoch

    def conflicts_with(self, earlier: AdminCommand) -> bool:
        """Returns whether ``earlier`` stops it, which depends on TiKV's version."""
        return self.checks and (earlier.changes_version or earlier.changes_conf_ver)


class ChangePeer(AdminCommand):
    """Adds a replica, or removes one; 0: none."""

    __slots__ = ("add", "remove")
    name = "ChangePeer"
    changes_conf_ver = True
    checks_version = False

    def __init__(self, *, add: int = 0, remove: int = 0) -> None:
        assert bool(add) != bool(remove), "one replica at a time"
        self.add = add
        self.remove = remove
