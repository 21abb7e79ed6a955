"""What a client does about region errors: mend its idea of the region, wait, and send again.

Law: the leader that a store names is asked at once; so are the regions that a store shows. Where
nobody knows the leader, or a store does not answer, the other replicas are tried in turn, and after
the last one PD is asked. Everything else is waited out.

Source: tikv/client-go internal/locate/region_request.go (onRegionError, onSendFail,
replicaSelector), txnkv/transaction/prewrite.go and commit.go (regionMiss).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sim.client.backoff import (
    DISK_FULL,
    MAX_TS_NOT_SYNCED,
    REGION_MISS,
    REGION_SCHEDULING,
    SERVER_BUSY,
    STALE_COMMAND,
    TIKV_RPC,
)
from sim.client.callers import NOBODY
from sim.protocol.region_errors import (
    DiskFull,
    EpochNotMatch,
    FlashbackInProgress,
    KeyNotInRegion,
    MaxTimestampNotSynced,
    NotLeader,
    ProposalInMergingMode,
    RaftEntryTooLarge,
    ReadIndexNotReady,
    RegionError,
    RegionNotFound,
    RpcError,
    ServerIsBusy,
    StaleCommand,
)

if TYPE_CHECKING:
    from collections.abc import Generator

    from simpy import Event

    from sim.client.backoff import Backoff
    from sim.client.kv_client import KvClient
    from sim.client.requests import RequestGroup
    from sim.storage.request import KvRequest

_WAITS: Final[dict[type[RegionError], Backoff]] = {
    DiskFull: DISK_FULL,
    MaxTimestampNotSynced: MAX_TS_NOT_SYNCED,
    ProposalInMergingMode: REGION_SCHEDULING,
    ReadIndexNotReady: REGION_SCHEDULING,
    ServerIsBusy: SERVER_BUSY,
    StaleCommand: STALE_COMMAND,
}

_MAX_HINTS = 10
"""``maxReplicaAttempt``: replicas that send a client round in circles are not believed for ever."""


class _Tries:
    """What has been tried for one request in one region."""

    __slots__ = ("hints", "refused", "sent_ns")

    def __init__(self, sent_ns: int) -> None:
        self.sent_ns = sent_ns
        """When it was sent first."""
        self.hints = 0
        self.refused: dict[int, None] = {}
        """Stores that did not answer, or did not know the leader (a dict as a set)."""


class Retries:
    """The requests of one group that have met region errors."""

    __slots__ = ("_backoffer", "_kv", "_tries", "may_be_applied")

    def __init__(self, kv: KvClient, request: KvRequest) -> None:
        self._kv = kv
        self._backoffer = kv.backoffer(request.kind)
        self._tries: dict[KvRequest, _Tries] = {}
        self.may_be_applied = False
        """A copy of a request may have been carried out without an answer."""

    def begin(self, group: RequestGroup, request: KvRequest) -> None:
        """Sends a request to a stale region, once PD has been asked."""
        request.caller = NOBODY
        request.sent_ns = self._kv.env.now_ns
        self._kv.env.process(self._again(group, request, _Tries(request.sent_ns), 0))

    def meet(self, group: RequestGroup, request: KvRequest, error: RegionError) -> bool:
        """Takes an error; returns whether the request will be sent again."""
        kv = self._kv
        kv.stats.region_error(type(error).__name__)
        if isinstance(error, RpcError | StaleCommand):
            self.may_be_applied = True
        if isinstance(error, RaftEntryTooLarge | FlashbackInProgress):
            return False
        tries = self._tries.pop(request, None) or _Tries(request.sent_ns)
        kv.node.regions.on_error(request.region, request.store, error)
        kind = self._wait(request, tries, error)
        wait_ns = 0
        if kind is not None:
            allowed_ns = self._backoffer.next_ns(kind)
            if allowed_ns is None:
                return False
            wait_ns = allowed_ns
            kv.stats.backed_off(kind.name, wait_ns)
        kv.env.process(self._again(group, request, tries, wait_ns))
        return True

    def replace(self, request: KvRequest, copy: KvRequest) -> None:
        """Notes that ``copy`` stands for ``request`` from now on."""
        if request in self._tries:
            self._tries[copy] = self._tries.pop(request)

    def settle(self, request: KvRequest) -> None:
        """Takes a request's last answer: its time counts from when it was first sent."""
        tries = self._tries.pop(request, None)
        if tries is not None:
            request.sent_ns = tries.sent_ns
            self._kv.node.regions.set_leader(request.region, request.store)

    def _wait(self, request: KvRequest, tries: _Tries, error: RegionError) -> Backoff | None:
        """Returns how to wait before the next try, None if there is no need to."""
        match error:
            case NotLeader(_, leader):
                return self._seek_leader(request, tries, leader)
            case EpochNotMatch() | RegionNotFound() | KeyNotInRegion():
                return self._seek_region(request)
            case RpcError():
                self._refused(request, tries)
                return TIKV_RPC
            case _:
                return _WAITS[type(error)]

    def _seek_leader(self, request: KvRequest, tries: _Tries, named: int) -> Backoff | None:
        tries.refused.pop(named, None)
        route = self._kv.node.regions.locate(request.keys[0])
        leader = route.leader_store
        known_better = leader not in (0, request.store) and leader not in tries.refused
        if known_better and not self._kv.connections.is_known_broken(leader):
            tries.hints += 1
            if tries.hints % _MAX_HINTS:
                return None
            self._kv.node.regions.invalidate(request.region)
            return REGION_MISS
        self._refused(request, tries)
        return REGION_SCHEDULING

    def _seek_region(self, request: KvRequest) -> Backoff | None:
        regions = self._kv.node.regions
        known = regions.locate(request.keys[0]).region
        if known.region_id not in regions.stale and (
            known.region_id != request.region.region_id or known.epoch != request.region.epoch
        ):
            return None
        regions.invalidate(request.region)
        return REGION_MISS

    def _refused(self, request: KvRequest, tries: _Tries) -> None:
        """Notes a store in vain; after the last one PD has to be asked."""
        tries.refused[request.store] = None
        if not self._untried(request, tries):
            tries.refused.clear()
            self._kv.node.regions.invalidate(request.region)

    def _untried(self, request: KvRequest, tries: _Tries) -> int:
        """Returns the next store to try; 0 if there is none."""
        stores = request.region.stores
        last = stores.index(request.store) if request.store in stores else 0
        for store in stores[last + 1 :] + stores[: last + 1]:
            if store not in tries.refused and not self._kv.connections.is_known_broken(store):
                return store
        return 0

    def _again(
        self, group: RequestGroup, request: KvRequest, tries: _Tries, wait_ns: int
    ) -> Generator[Event, Any, None]:
        kv = self._kv
        regions = kv.node.regions
        if wait_ns:
            yield kv.env.timeout(wait_ns)
        for key in request.keys:
            region = regions.locate(key).region
            if region.region_id in regions.stale:
                route = yield kv.node.route_of(key)
                regions.stale.pop(region.region_id, None)
                regions.learn(route)
        parts = group.cut(request)
        for part in parts:
            same = (
                part.region.region_id == request.region.region_id
                and part.region.epoch == request.region.epoch
            )
            tried = tries if same and len(parts) == 1 else _Tries(tries.sent_ns)
            part.store = self._store_for(part, tried, request.store)
            self._tries[part] = tried
        group.send_instead(request, parts)

    def _store_for(self, part: KvRequest, tries: _Tries, last: int) -> int:
        """Returns where to send a request: to the leader, or to a replica that may know it."""
        leader = part.store
        unknown = not leader or leader in tries.refused
        if not unknown and not self._kv.connections.is_known_broken(leader):
            return leader
        part.store = last
        return self._untried(part, tries) or leader or part.region.stores[0]
