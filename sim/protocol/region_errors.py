"""Why a store refuses a request before it runs: the region is not as its client believes.

A region error is a value, like a command's refusal; the client updates its routes, backs off, and
sends the request again.

Source: tikv/kvproto ``errorpb.proto``; tikv/client-go internal/locate/region_request.go.
"""

from dataclasses import dataclass

from sim.protocol.keys import show_key
from sim.protocol.region import Region


class RegionError:
    """Base class of all region errors."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class NotLeader(RegionError):
    """This replica does not lead; ``leader_store`` may (0: unknown)."""

    region_id: int
    leader_store: int = 0

    def __str__(self) -> str:
        leader = f"store {self.leader_store}" if self.leader_store else "unknown"
        return f"NotLeader(region {self.region_id}, leader {leader})"


@dataclass(frozen=True, slots=True)
class EpochNotMatch(RegionError):
    """The region has been split or merged since; ``regions`` are there now."""

    regions: tuple[Region, ...]

    def __str__(self) -> str:
        return f"EpochNotMatch({', '.join(map(str, self.regions))})"


@dataclass(frozen=True, slots=True)
class StaleCommand(RegionError):
    """The term has changed between the request's snapshot, or its proposal, and now."""

    region_id: int

    def __str__(self) -> str:
        return f"StaleCommand(region {self.region_id})"


@dataclass(frozen=True, slots=True)
class RegionNotFound(RegionError):
    """The store has no replica of that region."""

    region_id: int

    def __str__(self) -> str:
        return f"RegionNotFound(region {self.region_id})"


@dataclass(frozen=True, slots=True)
class KeyNotInRegion(RegionError):
    """The region does not hold the key."""

    key: bytes
    region: Region

    def __str__(self) -> str:
        return f"KeyNotInRegion({show_key(self.key)}, {self.region})"


@dataclass(frozen=True, slots=True)
class ServerIsBusy(RegionError):
    """The store accepts no more requests for now."""

    reason: str

    def __str__(self) -> str:
        return f"ServerIsBusy({self.reason})"


@dataclass(frozen=True, slots=True)
class ProposalInMergingMode(RegionError):
    """The region is being merged and takes no proposals."""

    region_id: int

    def __str__(self) -> str:
        return f"ProposalInMergingMode(region {self.region_id})"


@dataclass(frozen=True, slots=True)
class ReadIndexNotReady(RegionError):
    """The region cannot be read for now; ``reason`` in TiKV's words."""

    region_id: int
    reason: str

    def __str__(self) -> str:
        return f"ReadIndexNotReady(region {self.region_id}, {self.reason})"


@dataclass(frozen=True, slots=True)
class FlashbackInProgress(RegionError):
    """The region is closed while its data is taken back in time."""

    region_id: int

    def __str__(self) -> str:
        return f"FlashbackInProgress(region {self.region_id})"


@dataclass(frozen=True, slots=True)
class DiskFull(RegionError):
    """The disks of these stores are too full for the command."""

    stores: tuple[int, ...]

    def __str__(self) -> str:
        return f"DiskFull({', '.join(map(str, self.stores))})"


@dataclass(frozen=True, slots=True)
class RaftEntryTooLarge(RegionError):
    """The command does not fit into one raft entry."""

    region_id: int
    size_bytes: int

    def __str__(self) -> str:
        return f"RaftEntryTooLarge(region {self.region_id}, {self.size_bytes} B)"


@dataclass(frozen=True, slots=True)
class EngineError(RegionError):
    """A write that a failpoint has let fail; TiKV answers it with an error of no region."""

    region_id: int

    def __str__(self) -> str:
        return f"EngineError(region {self.region_id}, write failed)"


@dataclass(frozen=True, slots=True)
class MaxTimestampNotSynced(RegionError):
    """A new leader does not know yet up to which timestamp was read (async commit, 1PC)."""

    region_id: int

    def __str__(self) -> str:
        return f"MaxTimestampNotSynced(region {self.region_id})"


@dataclass(frozen=True, slots=True)
class RpcError(RegionError):
    """The client's own: the connection broke, or the request timed out."""

    store: int
    reason: str

    def __str__(self) -> str:
        return f"RpcError(store {self.store}, {self.reason})"
