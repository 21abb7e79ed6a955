"""What an etcd cluster adds to a scenario: its workload, and what its members' work costs."""

from __future__ import annotations

from dataclasses import dataclass

from sim.scenario.fields import COST, TIMEOUT, Count, Number, OneOf, Size, Wrong
from sim.scenario.schema.arrival import ETCD, ArrivalSection
from sim.scenario.section import Section

_FIT = (
    "Source: least squares on the CPU seconds of three members and their clients, etcd 3.4.23 on 2 "
    "vCPU at 2.5 GHz, 2026-11-21; see docs/ETCD.md."
)


@dataclass(frozen=True, kw_only=True)
class EtcdSection(ArrivalSection):
    """Clients that put random keys, one after the other; the stores are etcd's members."""

    kind: str = OneOf(ETCD).key()
    keys: int = Count(1, 10_000_000).key(
        "Different keys, drawn uniformly. Source: our own default.", default=100_000
    )
    key_bytes: int = Size("1B", "4KiB").key(
        "Size of a key. Source: our own default.", default="16B", name="key_size"
    )
    value_bytes: int = Size("1B", "1MiB").key(
        "Size of a value. Source: our own default.", default="128B"
    )
    connections: int = Count(1, 10_000).key(
        "Maximum number of gRPC connections that clients share. Source: our own default.", default=8
    )
    timeout_ns: int = TIMEOUT.key(
        "Time after which an unanswered put fails. Source: etcd release-3.4 etcdserver/config.go "
        "(ReqTimeout): 5 s plus twice the election timeout.",
        default="7s",
    )

    def check(self) -> None:
        """Judges the loop, and whether keys can be told apart."""
        ArrivalSection.check(self)
        if self.rate_per_s is not None:
            raise Wrong("etcd's clients form a closed loop here; write threads", at="rate")
        if self.key_bytes < len(str(self.keys - 1)):
            raise Wrong(f"too short for {self.keys} different keys; write "
                        f"{len(str(self.keys - 1))}B or more", at="key_size")  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class EtcdCosts(Section):
    """Mean CPU time of each kind of work of an etcd member and its clients on one core."""

    cv: float = Number(0, 10).key(
        "Coefficient of variation of every CPU time. Source: assumed.", default=0.5
    )
    burst_ns: int = COST.key(
        f"One read or write of a connection, of any size. {_FIT}",
        default="10500ns",
    )
    request_ns: int = COST.key(
        f"A request on the member that receives it, both ways. {_FIT}", default="129us"
    )
    client_ns: int = COST.key(f"A request on the client, both ways. {_FIT}", default="18100ns")
    round_ns: int = COST.key(f"One iteration of the raft loop. {_FIT}", default="10100ns")
    entry_ns: int = COST.key(f"An entry on each member. {_FIT}", default="24us")
    sync_ns: int = COST.key(
        "One write with its fdatasync. Source: fio on the same machine, 4 KiB into a preallocated "
        "file: 35 % of 111 us per write are CPU.",
        default="39us",
    )
    backend_commit_ns: int = COST.key(
        "One commit of bolt without its writes. Source: mean commit of 0.86 ms under one client, "
        "less two fdatasyncs.",
        default="400us",
    )
    process_share: float = Number(0, 1).key(
        "Share of a core that each member and each client node uses at any load, "
        f"besides its monitor. {_FIT}",
        default=0.132,
    )
    watch_ns: int = COST.key(
        "One check by the monitor that Go's runtime runs in each member and each client node. "
        "Source: run time per wake-up of those threads, etcd 3.4.23 on another machine with two "
        "cores: 10 to 11 us under 1, 16 and 64 clients.",
        default="10us",
    )
    kernel_share: float = Number(0, 1).key(
        "Share of a core that no process gets, even when all have work: interrupts, kernel "
        "threads, wake-ups. Source: two cores less the CPU seconds of three members and 16 "
        "clients, the same measurement.",
        default=0.254,
    )
    time_slice_ns: int = COST.key(
        "CPU time that a thread requests at a time, which sets its deadline. Source: Linux, "
        "kernel/sched/fair.c: 0.7 ms x (1 + log2 of 2 CPUs).",
        default="1400us",
    )
    wake_ns: int = COST.key(
        "Time an idle core needs to run a thread. Source: TCP ping-pong on loopback, 38 us with 1 "
        "ms of rest between two, 13 us without; two wake-ups each.",
        default="12500ns",
    )
    relay_ns: int = COST.key(
        "A message between zones, on a shared machine where one process forwards and delays all "
        "of them; none by default. Source: our own default.",
        default="0ns",
    )
    byte_ns: float = Number(0, 1_000).key(
        "Nanoseconds per byte of key and value, each time it is read, sent, saved or applied. "
        "Source: assumed; a TCP copy on loopback takes 0.6.",
        default=1.0,
    )
