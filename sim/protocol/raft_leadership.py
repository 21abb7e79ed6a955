"""What a leader does besides replicating: heartbeats, check-quorum, read index, transfer.

Law: a leader that no majority has answered for an election timeout leads no longer; a read that
waits for a heartbeat's context is answered when a majority has confirmed the leader since; a
transfer that has not happened within an election timeout is given up.

Source: etcd-io/raft ``raft.go`` (tickHeartbeat, stepLeader), ``read_only.go``; Ongaro, Consensus:
Bridging Theory and Practice, 3.10 (transfer), 6.2 (check-quorum), 6.4 (read index).
"""

from __future__ import annotations

from sim.protocol.quorum import is_majority
from sim.protocol.raft_election import Election
from sim.protocol.raft_messages import Heartbeat, HeartbeatResponse
from sim.protocol.raft_progress import PROBE, SNAPSHOT, Progress
from sim.protocol.raft_state import LEADER, PendingRead


class Leadership(Election):
    """The part of a replica that keeps a leader in its place, and lets it leave."""

    __slots__ = ()

    def tick(self) -> None:
        """Lets one base tick (``raftstore.raft-base-tick-interval``) pass."""
        if self.role is LEADER:
            self._tick_leader()
        else:
            self._tick_election()

    def transfer_leader(self, store: int) -> None:
        """Begins to hand the lead over to ``store``; to itself: gives a transfer up.

        ``store`` is asked to campaign once it holds the whole log. A store that is no follower of
        this leader is ignored.
        """
        assert self.role is LEADER, f"store {self.store} does not lead {self.region_id}"
        if store == self.store:
            self.lead_transferee = 0
        elif store in self.progress and store != self.lead_transferee:
            self.lead_transferee = store
            self.election_elapsed = 0
            self._hand_over()

    def read_index(self, context: int) -> bool:
        """Asks a majority whether this replica still leads; ``read_states`` has the answer.

        Whoever asks notes ``log.committed`` now: it is the index to wait for. Reads that have
        not been confirmed are forgotten when the role changes.

        Args:
            context: not 0, greater than any before on this replica.

        Returns:
            Whether it was asked: only a leader can, and only after an entry of its own term is
            committed, since before it does not know what is (Raft 8).
        """
        if self.role is not LEADER or self.log.committed < self.noop_index:
            return False
        self._reads = (*self._reads, PendingRead(context, {self.store}))
        self._confirm_reads(self._reads[-1])
        self.broadcast_heartbeat()
        return True

    def broadcast_heartbeat(self) -> None:
        """Sends every follower a heartbeat, with the context of the youngest read that waits."""
        context = self._reads[-1].context if self._reads else 0
        committed = self.log.committed
        for store in self.progress:
            commit = min(self.matched[store], committed)
            self._send(store, Heartbeat(self.region_id, self.store, self.term, commit, context))

    def snapshot_failed(self, store: int) -> None:
        """Notes that a snapshot did not reach ``store``: it is probed again."""
        progress = self.progress.get(store)
        if progress is not None and progress.state is SNAPSHOT:
            self._probe(progress, max(self.log.first_index, self.log.last_index))

    def _tick_leader(self) -> None:
        self.heartbeat_elapsed += 1
        self.election_elapsed += 1
        if self.election_elapsed >= self.election_ticks:
            self.election_elapsed = 0
            self.lead_transferee = 0
            if not self._has_active_majority():
                self.become_follower(self.term, 0)
                return
        for progress in self.progress.values():
            progress.snapshot_ticks += 1
        if self.heartbeat_elapsed >= self.heartbeat_ticks:
            self.heartbeat_elapsed = 0
            for progress in self.progress.values():
                progress.on_heartbeat_sent()
            self.broadcast_heartbeat()

    def _has_active_majority(self) -> bool:
        """Returns whether a majority has answered since the last call."""
        active = [self.store]
        for progress in self.progress.values():
            if progress.active:
                active.append(progress.store)
            progress.active = False
        return is_majority(active, self.voters)

    def _step_heartbeat(self, message: Heartbeat) -> None:
        if not self._follow_sender(message):
            return
        self.election_elapsed = 0
        self.log.commit_to(message.commit)
        answer = HeartbeatResponse(self.region_id, self.store, self.term, message.context)
        self._send(message.store, answer)

    def _step_heartbeat_response(self, message: HeartbeatResponse) -> None:
        if message.term > self.term:
            self.become_follower(message.term, 0)
        progress = self.progress.get(message.store)
        if progress is None or message.term < self.term:
            return
        progress.active = True
        self._send_again(progress)
        for read in self._reads:
            if read.context == message.context:
                read.acks.add(message.store)
                self._confirm_reads(read)
                break

    def _send_again(self, progress: Progress) -> None:
        """Repeats what seems lost: the follower answers heartbeats, but not what was sent before.

        A snapshot counts as lost after an election timeout; a follower that is still taking it
        in does not answer the probe.
        """
        matched = self.matched[progress.store]
        if progress.state is SNAPSHOT and progress.snapshot_ticks >= self.election_ticks:
            self.snapshot_failed(progress.store)
        elif progress.has_lost_something(matched):
            self._probe(progress, matched + 1)
        elif progress.state is PROBE:
            self._probe(progress, progress.next_index)

    def _confirm_reads(self, read: PendingRead) -> None:
        """Answers ``read`` and all that were asked before it, if a majority has confirmed it."""
        if is_majority(read.acks, self.voters):
            upto = self._reads.index(read) + 1
            self._eventful().read_states += [done.context for done in self._reads[:upto]]
            self._reads = self._reads[upto:]
