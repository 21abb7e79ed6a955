"""Replication: from a proposal to an entry that a majority holds.

Law: an entry is committed when a majority of voters has persisted it and it is of the leader's
own term (Raft 5.4.2); a leader counts itself like the others, by what it has persisted. Time,
disks and networks are the driver's.

Like TiKV, the commit index travels with the next append or heartbeat (``skip_bcast_commit``),
and appends are pipelined: the leader does not wait for an answer before it sends more.

A leader forgets what every voter holds and it has applied; with each append it says how far that
is, and followers forget no more. So a lagging voter always finds its entries at whoever leads
next, and only new voters need snapshots.

Source: etcd-io/raft ``raft.go``; tikv/tikv ``components/raftstore/src/store/peer.rs``.
"""

from __future__ import annotations

from sim.protocol.quorum import committed_index
from sim.protocol.raft_log import NO_ENTRIES, Entry
from sim.protocol.raft_messages import Append, AppendResponse, TimeoutNow
from sim.protocol.raft_progress import PROBE, SNAPSHOT, Progress
from sim.protocol.raft_ready import NO_APPENDS, NOTHING_READY, Ready
from sim.protocol.raft_state import LEADER, ReplicaState

_COMPACT_EVERY = 4
"""Entries that gather before the log forgets the applied ones. ASSUMED: TiKV keeps 50
(raft-log-gc-threshold); nobody can see the difference here, and 50 entries of 6,000 regions would
be most of a unit's memory."""


class Replication(ReplicaState):
    """The part of a replica that all work goes through, and that must be fast."""

    __slots__ = ()

    def propose(self, payload: object, size_bytes: int) -> Entry:
        """Appends a new entry to the leader's log and returns it.

        While ``lead_transferee`` is set the driver refuses proposals; this does not.
        """
        assert self.role is LEADER, f"store {self.store} does not lead {self.region_id}"
        log = self.log
        entry = Entry(self.term, log.first_index + len(log.entries), payload, size_bytes)
        log.entries.append(entry)
        return entry

    def step_append(self, message: Append) -> None:
        """Takes a leader's append; the answer comes with the next ``ready``."""
        if (message.term != self.term or message.store != self.leader) and not self._follow_sender(
            message
        ):
            return
        self.election_elapsed = 0
        self.compactable = message.compact
        log = self.log
        if not log.accept(message.prev_index, message.prev_term, message.entries):
            self._refuse(message)
            return
        agreed = message.prev_index
        if message.entries:
            agreed = message.entries[-1].index
            self._answer = AppendResponse(
                self.region_id, self.store, self.term, agreed, reject=False
            )
        # What lies behind may still be cut off by the leader; what is agreed is in the log.
        commit = message.commit if message.commit < agreed else agreed
        if commit > log.committed:
            log.committed = commit

    def step_append_response(self, message: AppendResponse) -> None:
        """Takes a follower's answer and moves the commit index if a majority agrees."""
        if message.reject or message.term != self.term or self.role is not LEADER:
            self._step_refusal(message)
            return
        store = message.store
        try:
            progress = self.progress[store]
        except KeyError:  # It has been removed meanwhile.
            return
        progress.active = True
        index = message.index
        inflight = progress.inflight
        # One answer may stand for several appends that the follower took in one visit.
        while inflight and inflight[0] <= index:
            del inflight[0]
        if index > self.matched[store]:
            self.matched[store] = index
            if index >= progress.next_index:
                progress.next_index = index + 1
            if index > self.log.committed:  # Otherwise a majority had agreed before.
                self._advance_commit()
        if progress.state or self.lead_transferee:
            self._catch_up(progress, index)

    def on_persisted(self, index: int, term: int) -> None:
        """Notes that the entries up to ``index``, of ``term``, are durable on this replica.

        An entry that was cut off meanwhile does not count.
        """
        log = self.log
        if not log.persisted < index <= log.writing:
            return
        if log.entries[index - log.first_index].term == term:
            log.persisted = index
            if self.role is LEADER:
                self.matched[self.store] = index
                self._advance_commit()

    def ready(self) -> Ready:
        """Returns what has to be done since the last call; answers are handed out once."""
        log = self.log
        last = log.first_index + len(log.entries) - 1
        entries = NO_ENTRIES
        appends = NO_APPENDS
        persist_to = 0
        answer = self._answer
        if answer is not None:
            self._answer = None
        if last > log.writing:
            entries = log.entries[log.writing + 1 - log.first_index :]
            log.writing = persist_to = last
        if self.role is LEADER and last >= self._unsent:
            appends = self._collect_appends(last)
        committed = NO_ENTRIES
        if log.committed > log.applying:
            committed = self.take_committed()
        if self._events is not None:
            events = self._take_events()
            Ready.__init__(events, appends, entries, persist_to, answer, committed)
            return events
        if not persist_to and answer is None and not committed and not appends:
            return NOTHING_READY
        return Ready(appends, entries, persist_to, answer, committed)

    def take_committed(self) -> list[Entry]:
        """Returns entries that became applicable, and compacts the log now and then."""
        log = self.log
        entries = log.take_committed()
        if len(log.entries) > _COMPACT_EVERY:
            self._compact()
        return entries

    def note_applied(self, index: int) -> None:
        """Notes that the driver has applied everything up to ``index``."""
        if index > self.applied_index:
            self.applied_index = index

    def commit_tellings(self) -> list[tuple[int, Append]]:
        """Returns (store, append without entries) for each follower that has been sent all.

        It lies behind what was sent before, so the follower can commit as far as this leader has.
        """
        next_index = self.log.last_index + 1
        return [
            (progress.store, self._append_from(next_index))
            for progress in self.progress.values()
            if progress.next_index == next_index
        ]

    def _collect_appends(self, last: int) -> list[tuple[int, Append]]:
        """Returns what each follower misses; followers that miss the same get the same message."""
        appends = []
        unsent = last + 1
        message: Append | None = None
        for progress in self.progress.values():
            next_index = progress.next_index
            if next_index > last:
                continue
            inflight = progress.inflight
            if len(inflight) >= progress.window:
                if self._may_probe(progress):
                    appends.append((progress.store, self._append_from(next_index)))
                elif not progress.state:
                    unsent = min(unsent, next_index)
                continue
            if message is None or message.prev_index != next_index - 1:
                message = self._append_from(next_index)
            appends.append((progress.store, message))
            progress.next_index = last + 1
            inflight.append(last)
        self._unsent = unsent
        return appends

    def _append_from(self, next_index: int) -> Append:
        log = self.log
        compact = log.first_index - 1
        offset = next_index - compact - 1
        assert offset >= 0, f"index {next_index} is compacted"
        prev_term = log.entries[offset - 1].term if offset else log.first_term
        return Append(
            self.region_id,
            self.term,
            next_index - 1,
            prev_term,
            log.entries[offset:],
            log.committed,
            self.store,
            compact,
        )

    def _advance_commit(self) -> None:
        log = self.log
        if log.committed == log.first_index + len(log.entries) - 1:
            return
        index = committed_index(self.matched.values())
        if index > log.committed and log.entries[index - log.first_index].term == self.term:
            log.committed = index

    def _compact(self) -> None:
        """Forgets entries; the newest stays, for a new voter to be probed with."""
        log = self.log
        index = self.applied_index
        if self.role is LEADER:
            index = min(index, log.last_index - 1, *self.matched.values())
        elif self.compactable < index:
            index = self.compactable
        if index - log.first_index >= _COMPACT_EVERY // 2:
            log.compact_to(index)

    def _refuse(self, message: Append) -> None:
        if self._installing is None:  # Else the snapshot's answer will say more.
            hint = self.log.may_agree_up_to(message.prev_index - 1, message.prev_term)
            self._answer = AppendResponse(self.region_id, self.store, self.term, hint, reject=True)

    def _step_refusal(self, message: AppendResponse) -> None:
        """Takes an answer that says no: that the logs differ, or that the term is over."""
        if message.term > self.term:
            self.become_follower(message.term, 0)
        elif message.reject and message.term == self.term and self.role is LEADER:
            progress = self.progress.get(message.store)
            if progress is not None:
                progress.active = True
                self._step_back(progress, message.index)

    def _step_back(self, progress: Progress, hint: int) -> None:
        """Probes from where the logs may agree: up to ``hint``."""
        next_index = progress.next_index
        late = hint < self.matched[progress.store]
        # Appends behind the refused one are refused as well; one of these answers is enough.
        repeated = progress.state is PROBE and hint + 1 >= next_index
        if progress.state is not SNAPSHOT and not late and not repeated:
            self._probe(progress, min(hint + 1, next_index))

    def _probe(self, progress: Progress, next_index: int) -> None:
        progress.probe(next_index)
        self._unsent = min(self._unsent, next_index)

    def _may_probe(self, progress: Progress) -> bool:
        """Returns whether a follower without window is to be sent one append all the same."""
        if progress.state is not PROBE or progress.paused:
            return False
        if progress.next_index < self.log.first_index:
            progress.await_snapshot()
            self._eventful().needs_snapshot.append(progress.store)
            return False
        progress.paused = True
        return True

    def _catch_up(self, progress: Progress, index: int) -> None:
        """Takes what an answer means for a follower that was not simply being replicated to."""
        matched = self.matched[progress.store]
        if progress.state and index == matched and matched >= self.log.first_index - 1:
            progress.replicate(matched + 1, self.max_inflight)
            self._unsent = min(self._unsent, matched + 1)
        if self.lead_transferee == progress.store:
            self._hand_over()

    def _hand_over(self) -> None:
        """Lets the transferee campaign as soon as it holds the whole log."""
        store = self.lead_transferee
        if self.matched[store] == self.log.last_index:
            self._send(store, TimeoutNow(self.region_id, self.store, self.term))
