"""One store at a rate of transactions: what each station is asked for, and how long it lets wait.

The utilisation law (Denning, Buzen 1978): busy servers = throughput x service demand. Demands are
counted (``footprint``) or follow from mechanism: messages per command from replicas and shared
entries, writes of the log from group commit (``pollers``), CPU that takes longer the more threads
share the cores. Some depend on each other, so they are iterated until they stand still.

The mean store leads, follows and serves what all stores do on average; another one what its
``StoreShare`` says.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

import numpy as np

from sim.engine import queued_ns, smt_slowness
from sim.estimate.apply_pool import ApplyDemand
from sim.estimate.disk_demand import DiskDemand
from sim.estimate.footprint import Footprint
from sim.estimate.pollers import PollerLoad, solve_pollers
from sim.estimate.ports import Traffic
from sim.estimate.regions import (
    entries_per_command,
    heartbeats_per_s,
    mail_of_peers,
    ticks_per_s,
)
from sim.estimate.request_pools import RequestDemand
from sim.estimate.station_load import StationLoad
from sim.estimate.store_load import StoreLoad
from sim.estimate.store_shares import EVEN, StoreShare
from sim.queueing.formulas import in_queue
from sim.raftstore.log_engine import record_ns
from sim.raftstore.write_worker import BATCH_SIZE_HINT_BYTES
from sim.scenario.resolved import Scenario
from sim.transport.transport import MESSAGE_BYTES, RESPONSE_BYTES
from sim.units import NS_PER_S

_LEAST: Final = 1e-3
"""Nearer to 0 no divisor comes."""

_LONGEST_S: Final = 1.0
"""Nothing waits longer in a system in balance."""

_STEPS: Final = 60
_FAST_STEPS: Final = 12
_STILL: Final = 1e-3


class StoreModel:
    """What does not depend on the load."""

    def __init__(
        self,
        scenario: Scenario,
        footprint: Footprint,
        lock_share: float,
        share: StoreShare = EVEN,
    ) -> None:
        self.scenario = scenario
        self.footprint = footprint
        self.lock_share = lock_share
        """Part of the lock requests that are proposed."""
        self.share = share
        self.led, self.kept = share.of(
            {
                kind: each.count * (lock_share if kind == "lock" else 1.0)
                for kind, each in footprint.requests.items()
                if each.records
            }
        )
        """Of all commands, over the mean store's: those proposed here, and those applied here."""
        self.copies = self.kept * scenario.cluster.replicas / scenario.cluster.stores
        """Part of the cluster's commands that is applied here."""
        counts = {kind: each.count for kind, each in footprint.requests.items()}
        self.part = share.of(counts)[0] / scenario.cluster.stores
        """Of all requests, those that come here."""
        self.disk = DiskDemand(scenario, footprint, lock_share, share, self.copies)
        self.proposed = footprint.proposed(lock_share)
        """Per transaction."""
        groups = footprint.region_groups
        self._commands = np.array([each.locks * lock_share + each.others for each in groups])
        self._regions = np.array([each.regions for each in groups], dtype=np.float64)
        of_regions = self._commands / self._regions
        asked = float(self._commands.sum())
        hottest = float(of_regions.max()) / asked if asked else 0.0
        ended = self.led * self.proposed.count
        self.requests = RequestDemand(
            scenario, footprint, lock_share, share, ended=ended, fetch_ns=self.disk.fetch_ns
        )
        self._apply = ApplyDemand(scenario, self.proposed, self.copies, hottest)
        hardware = scenario.hardware
        self._slowness = smt_slowness(
            hardware.store_cores, hardware.threads_per_core, hardware.cpu.smt_gain
        )
        self._record_ns = record_ns(scenario.tikv, hardware.store_cpu)

    def of_fullest(self) -> "StoreModel | None":
        """Returns the same of the store with the most to do; None: all stores are alike."""
        share = self.footprint.fullest
        if share is None:
            return None
        return StoreModel(self.scenario, self.footprint, self.lock_share, share)

    def at(
        self,
        txn_per_s: float,
        retries: float = 0.0,
        opening: float = 1.0,
        near: StoreLoad | None = None,
    ) -> StoreLoad:
        """Returns the figures at a rate.

        Args:
            txn_per_s: transactions of the whole cluster.
            retries: lock requests sent again, per transaction.
            opening: share of the requests that come in a message of their own.
            near: figures in balance at about this rate, from which fewer steps lead here.
        """
        scenario, groups = self.scenario, self.footprint.region_groups
        if near is None:
            idle = self.disk.load(txn_per_s, 0, 0)
            hop_ns = scenario.hardware.store_cpu.thread_hop_ns
            load = StoreLoad(txn_per_s, self.disk.append_ns, idle, hop_ns=hop_ns)
        else:
            load = replace(near, txn_per_s=txn_per_s)
        load.opening = opening
        load.heartbeats_per_s = heartbeats_per_s(scenario, groups, txn_per_s)
        load.ticks_per_s = ticks_per_s(scenario, groups, txn_per_s)
        for step in range(_STEPS):
            # What shares visits follows steeply from the wait: long steps would swing for ever.
            load.step = 0.5 if step < _FAST_STEPS else 0.25
            before, pollers = load.on_the_way, load.pollers
            self._poll(load)
            self._write(load)
            self._run_pools(load, retries)
            pairs = zip(before, load.on_the_way, strict=True)
            if load.pollers.is_near(pollers, _STILL) and all(
                abs(b - a) <= _STILL * b for b, a in pairs
            ):
                break
        self._add_pollers_and_disks(load)
        self._add_port(load)
        return load

    def _poll(self, load: StoreLoad) -> None:
        """Messages and pollers."""
        scenario = self.scenario
        tikv, stores, cpu = scenario.tikv, scenario.cluster.stores, scenario.hardware.store_cpu
        followers = scenario.cluster.replicas - 1
        of_mean_store = load.txn_per_s * self.proposed.count / stores
        commands = of_mean_store * self.led
        entries = commands * load.entries_per_command
        load.entries_per_s = of_mean_store * load.entries_per_command * self.kept * (1 + followers)
        load.led_per_s, followed = entries, load.entries_per_s - entries
        ticks, results = load.ticks_per_s / stores, of_mean_store * load.results_per_command
        results *= self.kept
        load.beats_per_s = beats = 2 * followers * load.heartbeats_per_s / stores
        load.carried_per_s = followers * entries + followed + beats
        load.messages_per_s = messages = commands + load.carried_per_s + ticks + results
        if not messages:
            return
        appended = self.disk.appended_bytes(load.txn_per_s, load.entries_per_s)
        work_ns = cpu.store_visit_ns * load.visits_per_message + cpu.store_message_ns
        log_ns = cpu.log_byte_ns * appended + self._record_ns * 2 * load.entries_per_s
        load.message_ns = (work_ns + log_ns / messages) * load.slowness
        small = load.disk.payload < BATCH_SIZE_HINT_BYTES
        load.pollers = solve_pollers(
            PollerLoad(
                pollers=tikv.store_pool_size,
                followers=followers,
                messages=messages / NS_PER_S,
                message=load.message_ns,
                commands=commands / messages,
                together=self.proposed.count / self.proposed.arrivals
                if self.proposed.count
                else 1.0,
                heartbeats=(beats + ticks) / messages,
                results=results / messages,
                results_together=load.applied_together,
                met=load.met,
                logging=(commands + followed) / messages,
                write=load.write_ns,
                write_scv=self.disk.append_scv,
                workers=tikv.store_io_pool_size > 0,
                pause=tikv.raft_write_wait_duration_ns if small else 0.0,
                hop=load.woken * load.hop_ns,
                # One write worker hands its groups to nobody.
                hand_over=load.hop_ns if tikv.store_io_pool_size != 1 else 0.0,
            ),
            near=load.pollers,
        )
        self._share_visits(load)

    def _share_visits(self, load: StoreLoad) -> None:
        """How many messages a visit finds, and commands an entry, while they wait for a poller."""
        commands, regions = self._commands, self._regions
        wait_s = min(load.mail_wait_ns / NS_PER_S, _LONGEST_S)
        mail = mail_of_peers(
            commands,
            regions,
            load.txn_per_s,
            followers=self.scenario.cluster.replicas - 1,
            entries=load.entries_per_command,
            applying_s=load.applying_s,
            waiting_s=wait_s,
            round_s=load.pollers.round / NS_PER_S,
        )
        load.results_per_command += load.step * (mail.results - load.results_per_command)
        load.visits_per_message += load.step * (mail.visits - load.visits_per_message)
        load.met += load.step * (mail.met - load.met)
        load.woken += load.step * (load.pollers.woken - load.woken)
        if self.scenario.tikv.cmd_batch:
            shared = entries_per_command(commands, regions, load.txn_per_s, wait_s)
            load.entries_per_command += load.step * (shared - load.entries_per_command)

    def _write(self, load: StoreLoad) -> None:
        load.disk = self.disk.load(load.txn_per_s, load.fsyncs_per_s, load.entries_per_s)
        write_ns = self.disk.write_ns(load.disk)
        load.write_ns += load.step * (write_ns - load.write_ns)  # A full bucket would overshoot.

    def _run_pools(self, load: StoreLoad, retries: float) -> None:
        """The pools and gRPC, and how much threads slow each other down."""
        cpu, stores = self.scenario.hardware.store_cpu, self.scenario.cluster.stores
        grpc, pools = self.requests.stations(load, retries)
        apply, fetches = self._apply.station(load), self.requests.fetches_per_s(load.txn_per_s)
        cores = StationLoad(self.scenario.hardware.store_cores, grpc.jobs / 2)
        flushed = load.disk.flush + load.disk.compaction + load.disk.rewritten
        rewritten = flushed * cpu.compaction_byte_ns / NS_PER_S
        rewritten += load.entries_per_s * self._record_ns / NS_PER_S
        threads = load.pollers_asked + sum(pool.busy for pool in pools.values())
        threads -= fetches * self.disk.fetch_ns / NS_PER_S
        threads += apply.busy
        sets_per_s = load.pollers.rounds * NS_PER_S * (stores - 1)
        carried = load.carried_per_s * (cpu.grpc_request_ns >> 1) / NS_PER_S
        carried += min(load.carried_per_s, sets_per_s) * 2 * cpu.grpc_message_ns / NS_PER_S
        for pool in pools.values():
            pool.wake(load.hop_ns)
            pool.queue = in_queue(pool.servers, pool.within)
        waking = self._waking(load, pools.values(), apply, fetches)
        cores.busy = threads + grpc.busy + rewritten + carried + waking
        load.slowness = self._slowness_among(cores.busy)
        load.hop_ns = cpu.thread_hop_ns + queued_ns(cpu.thread_run_ns, cores.busy, cores.servers)
        load.stations = {"grpc": grpc, "store_cpu": cores, **pools, "apply": apply}

    def _waking(
        self, load: StoreLoad, pools: Iterable[StationLoad], apply: StationLoad, fetches: float
    ) -> float:
        """Returns how many threads are being woken, which takes CPU."""
        woken = load.pollers.rounds * NS_PER_S * load.woken + fetches
        waits_ns = sum(pool.jobs * pool.hop_ns for pool in pools)
        waits_ns += apply.jobs * apply.hop_ns / load.applied_together
        woken += waits_ns / load.hop_ns if load.hop_ns else 0.0
        return woken * self.scenario.hardware.cpu.thread_hop_ns / NS_PER_S

    def _slowness_among(self, running: float) -> float:
        """Returns by how much one more thread is slowed down, between whole numbers of threads."""
        most = len(self._slowness) - 1
        threads = min(running + 1, float(most))
        below = int(threads)
        low, high = self._slowness[below], self._slowness[min(below + 1, most)]
        return low + (threads - below) * (high - low)

    def _add_pollers_and_disks(self, load: StoreLoad) -> None:
        pollers = load.pollers
        load.stations["store_poller"] = StationLoad(
            self.scenario.tikv.store_pool_size,
            pollers.rounds * NS_PER_S,
            load.pollers_asked,
            load.messages_per_s * load.mail_wait_ns / NS_PER_S,
        )
        writing = pollers.fsyncs * load.write_ns
        waiting = pollers.writers * (pollers.log_wait - load.write_ns)
        load.stations["raft_log"] = StationLoad(1, load.fsyncs_per_s, writing, waiting)
        for name, spec in self.disk.by_station.items():
            used, ios = self.disk.used(load.disk, spec)
            station = load.stations[name] = StationLoad(1, ios, used)
            station.queue = in_queue(1, station.within, 0.5)
            load.disks_asked[name] = self.disk.asked(load.disk, spec)

    def _add_port(self, load: StoreLoad) -> None:
        """Answers, and Raft's messages; each counts, though some leave together."""
        scenario, of_mean_store = self.scenario, load.txn_per_s / self.scenario.cluster.stores
        sent = Traffic(scenario.hardware.network.bandwidth_bytes_per_s)
        for kind, each in self.footprint.requests.items():
            asked = of_mean_store * self.share.led.get(kind, 1.0)
            sent.add(asked * each.count, asked * each.reply_bytes)
        followers = scenario.cluster.replicas - 1
        appended = self.disk.appended_bytes(load.txn_per_s, load.entries_per_s)
        append_bytes = MESSAGE_BYTES + appended / max(load.entries_per_s, _LEAST)
        load.append_sent_ns = sent.sending_ns(append_bytes)
        sent.add(followers * load.led_per_s, followers * load.led_per_s * append_bytes)
        followed = load.entries_per_s - load.led_per_s
        sent.add(followed, followed * RESPONSE_BYTES)
        sent.add(load.beats_per_s, load.beats_per_s * MESSAGE_BYTES)
        load.stations["store_network"] = sent.port()
