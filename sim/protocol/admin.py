"""Admin commands: what changes a region itself, and which proposals that forbids meanwhile.

A command that changes the region's version makes every write fail that is proposed after it, since
the write is applied after it as well. So a leader does not even propose such a write: the write
waits for the admin command and then fails with EpochNotMatch. A change of replicas harms no write.

Source: tikv/tikv components/raftstore/src/store/{util.rs (admin_cmd_epoch_lookup), peer.rs
(CmdEpochChecker)}; kvproto ``raft_cmdpb.proto``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sim.protocol.raft.log import Entry
from sim.protocol.region import Region, RegionId

_HEADER_BYTES = 60
"""A RaftCmdRequest without its admin request: header, epoch, peer (kvproto field sizes)."""

_REGION_BYTES = 100
"""A region in a split: two keys, three peers, epoch (kvproto metapb field sizes)."""


class AdminCommand:
    """Base class: what of the epoch a command changes, and what must still hold at apply."""

    name: ClassVar[str]
    changes_version: ClassVar[bool] = False
    changes_conf_ver: ClassVar[bool] = False
    checks_version: ClassVar[bool] = True
    checks_conf_ver: ClassVar[bool] = True
    is_flashback: ClassVar[bool] = False
    """Whether it begins or ends a flashback; no other is carried out during one."""

    @property
    def size_bytes(self) -> int:
        """Size in the log, without the entry's own overhead."""
        return _HEADER_BYTES

    def conflicts_with(self, earlier: AdminCommand) -> bool:
        """Returns whether ``earlier``, proposed and not applied, will make this one fail."""
        return (self.checks_version and earlier.changes_version) or (
            self.checks_conf_ver and earlier.changes_conf_ver
        )


@dataclass(eq=False)
class Split(AdminCommand):
    """Cuts the region at ``keys``; the new regions are the left ones."""

    name = "Split"
    changes_version = True

    keys: list[bytes]
    region_ids: list[RegionId]

    @property
    def size_bytes(self) -> int:
        """Size in the log, without the entry's own overhead."""
        return _HEADER_BYTES + sum(len(key) + 30 for key in self.keys)


@dataclass(eq=False)
class PrepareMerge(AdminCommand):
    """Stops the source of a merge; every replica is known to hold its log up to ``min_index``."""

    name = "PrepareMerge"
    changes_version = True
    changes_conf_ver = True

    target: Region
    min_index: int

    @property
    def size_bytes(self) -> int:
        """Size in the log, without the entry's own overhead."""
        return _HEADER_BYTES + _REGION_BYTES


@dataclass(eq=False)
class CommitMerge(AdminCommand):
    """Proposed to the target: takes over the source, whose log ends at ``commit``."""

    name = "CommitMerge"
    changes_version = True

    source: Region
    commit: int
    entries: list[Entry]
    """What a replica of the source may lack: everything after ``min_index``."""

    @property
    def size_bytes(self) -> int:
        """Size in the log, without the entry's own overhead."""
        return _HEADER_BYTES + _REGION_BYTES + sum(entry.size_bytes for entry in self.entries)


@dataclass(eq=False)
class RollbackMerge(AdminCommand):
    """Takes back the PrepareMerge applied at ``commit``."""

    name = "RollbackMerge"
    changes_version = True

    commit: int


class PrepareFlashback(AdminCommand):
    """Closes the region for a flashback."""

    name = "PrepareFlashback"
    is_flashback = True


class FinishFlashback(AdminCommand):
    """Opens the region again."""

    name = "FinishFlashback"
    is_flashback = True


@dataclass(eq=False)
class TransferLeaderCommand(AdminCommand):
    """Asks the named replica to answer when it has applied everything up to here.

    ``checks_epoch``: refused because of a split or merge under way; no longer since
    tikv/tikv#17643 (v8.5).
    """

    name = "TransferLeader"
    checks_version = False
    checks_conf_ver = False

    to_store: int
    term: int
    checks_epoch: bool

    def conflicts_with(self, earlier: AdminCommand) -> bool:
        """Returns whether ``earlier`` stops it, which depends on TiKV's version."""
        return self.checks_epoch and (earlier.changes_version or earlier.changes_conf_ver)


@dataclass(eq=False, kw_only=True)
class ChangePeer(AdminCommand):
    """Adds a replica, or removes one; 0: none."""

    name = "ChangePeer"
    changes_conf_ver = True
    checks_version = False

    add: int = 0
    remove: int = 0

    def __post_init__(self) -> None:
        assert bool(self.add) != bool(self.remove), "one replica at a time"
