"""Puts on a member: read from a connection, proposed as they come, answered when applied here.

Law: a member that does not lead forwards a put to the leader and answers it when it has applied it
itself; while nobody leads, puts wait. A proposal that the leader drops is answered at once on the
leader, and never if it was forwarded: its client's patience ends it.

Source: etcd-io/etcd release-3.4 etcdserver/v3_server.go (processInternalRaftRequestOnce),
raft/node.go (propc is closed to proposals without a leader), raft/raft.go (stepFollower: MsgProp).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sim.etcd.allocations import of_requests
from sim.etcd.gatherer import Gatherer
from sim.etcd.streams import ForwardedPut
from sim.protocol.raft import LEADER
from sim.protocol.region_errors import StaleCommand
from sim.storage.request import KvRequest, hand_over
from sim.storage.scheduler import Scheduler
from sim.transport.transport import MESSAGE_BYTES
from sim.units import NS_PER_MS

if TYPE_CHECKING:
    from sim.etcd.costs import Priced
    from sim.etcd.go_process import GoProcess
    from sim.protocol.latches import Latches

_ANSWER_BYTES: Final = 60
"""A PutResponse: header with cluster, member, revision and term (etcd rpc.proto)."""

_ASK_AGAIN_NS: Final = 10 * NS_PER_MS
"""How soon a put that waits for a leader finds one. ASSUMED; short against an election."""


class PutService(Scheduler):
    """What stands in the place of the transaction layer."""

    __slots__ = ("_pay", "_process", "_readers", "_without_leader", "_writers")

    def runs_in(self, process: GoProcess, costs: Priced) -> None:
        """Says whose threads it uses."""
        self._process = process
        self._pay = costs
        self._readers: dict[int, Gatherer] = {}
        self._writers: dict[int, Gatherer] = {}
        self._without_leader: list[KvRequest] = []

    @property
    def turns(self) -> int:
        """How often a connection of a client was read from or written to."""
        both = [*self._readers.values(), *self._writers.values()]
        return sum(each.turns for each in both)

    def receive(self, request: KvRequest) -> None:
        """Takes a put that has arrived on connection ``request.cid``."""
        if not self._store.up:
            return
        request.arrived_ns = self._env.now_ns
        reader = self._readers.get(request.cid)
        if reader is None:
            reader = Gatherer(self._process, self._read_ns, self._read_puts)
            self._readers[request.cid] = reader
        reader.add([request])

    def reset(self, latches: Latches) -> None:
        """Forgets everything in memory: the process has died."""
        super().reset(latches)
        self._without_leader = []
        self._readers = {}
        self._writers = {}

    def reply(self, request: KvRequest) -> None:
        """Sends a put's answer on its connection."""
        if request.peer is None or request.peer.store != self._store.store_id:
            return  # Forwarded, and dropped here: nobody is told.
        if request.result.__class__ is StaleCommand:
            return
        writer = self._writers.get(request.cid)
        if writer is None:
            writer = Gatherer(self._process, self._read_ns, self._write_answers)
            self._writers[request.cid] = writer
        writer.add([request])

    def _read_ns(self, requests: list[KvRequest]) -> int:
        size = sum(request.request_bytes for request in requests if not request.applied_ns)
        return self._pay.requests_ns(len(requests), size)

    def _read_puts(self, requests: list[KvRequest]) -> None:
        for request in requests:
            self._process.allocate(of_requests(1, request.request_bytes))
            self._accept(request)

    def _accept(self, request: KvRequest) -> None:
        store = self._store
        region_id = request.region.region_id
        store.create_replicas(region_id)
        peer = request.peer = store.peers.get(region_id)
        if peer is None:
            return
        raft = peer.raft
        request.term = raft.term
        assert request.batch is not None, "a put has its records from the client"
        if raft.role is LEADER:
            self.writes.write(request, peer, request.batch)
        elif raft.leader:
            self.writes.pending_bytes += request.batch.raft_bytes
            message: Any = ForwardedPut(region_id, store.store_id, request)
            store.transport.send(raft.leader, [message], MESSAGE_BYTES + request.request_bytes)
        else:
            if not self._without_leader:
                self._env.at(self._env.now_ns + _ASK_AGAIN_NS, self._ask_again, None)
            self._without_leader.append(request)

    def _ask_again(self, _: None) -> None:
        waiting, self._without_leader = self._without_leader, []
        self._read_puts(waiting)

    def _write_answers(self, requests: list[KvRequest]) -> None:
        now_ns = self._env.now_ns
        for request in requests:
            link = self._replies[request.tidb]
            if self._store.up and not link.cut:
                request.replied_ns = now_ns
                self._env.at(link.send_ordered(now_ns, _ANSWER_BYTES), hand_over, request)
