"""What an etcd cluster adds to a scenario: its workload, and what its members' work costs."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import model_validator

from sim.scenario.fields import Cost, Count, Number, Quantity, Section, Timeout, key, wrong
from sim.scenario.quantities import SIZE
from sim.scenario.schema.arrival import ArrivalSection

_FIT = (
    "Source: least squares on the CPU seconds of three members and their clients, etcd 3.4.23 on 2 "
    "vCPU at 2.5 GHz, 2026-11-21; see docs/ETCD.md."
)


class EtcdSection(ArrivalSection):
    """Clients that put random keys, one after the other; the stores are etcd's members."""

    kind: Literal["etcd"] = key()
    keys: Annotated[int, Count(1, 10_000_000)] = key(
        default=100_000, description="Different keys, drawn uniformly. Source: our own default."
    )
    key_size: Annotated[int, Quantity(SIZE, "1B", "4KiB")] = key(
        default="16B", description="Of a key. Source: our own default."
    )
    value: Annotated[int, Quantity(SIZE, "1B", "1MiB")] = key(
        default="128B", description="Size of a value. Source: our own default."
    )
    connections: Annotated[int, Count(1, 10_000)] = key(
        default=8,
        description="The most gRPC connections that the clients share. Source: our own default.",
    )
    timeout: Timeout = key(
        default="7s",
        description="After which a put that was not answered has failed. Source: etcd release-3.4 "
        "etcdserver/config.go (ReqTimeout): 5 s and twice the election timeout.",
    )

    @model_validator(mode="after")
    def _is_closed(self) -> Self:
        if self.rate is not None:
            raise wrong("etcd's clients form a closed loop here; write threads", at="rate")
        if self.key_size < len(str(self.keys - 1)):
            raise wrong(f"too short for {self.keys} different keys; write "
                        f"{len(str(self.keys - 1))}B or more", at="key_size")  # fmt: skip
        return self


class EtcdCostsSection(Section):
    """Mean CPU time of each kind of work of an etcd member and its clients on one core."""

    burst: Cost = key(
        default="10500ns",
        description=f"One read from, or write to, a connection, however much it carries. {_FIT}",
    )
    request: Cost = key(
        default="129us", description=f"A request on the member it came to, both ways. {_FIT}"
    )
    client: Cost = key(default="18100ns", description=f"A request on its client, both ways. {_FIT}")
    round: Cost = key(default="10100ns", description=f"One turn of the raft loop. {_FIT}")
    entry: Cost = key(default="24us", description=f"An entry on each member. {_FIT}")
    sync: Cost = key(
        default="39us",
        description="One write with its fdatasync. Source: fio on the same machine, 4 KiB into a "
        "preallocated file: 35 % of 111 us a write are CPU.",
    )
    backend_commit: Cost = key(
        default="400us",
        description="One commit of bolt without its writes. Source: mean commit of 0.86 ms under "
        "one client, less two fdatasyncs.",
    )
    process_share: Annotated[float, Number(0, 1)] = key(
        default=0.132,
        description="Part of a core that each member and each node of clients uses whatever it has "
        f"to do, besides its monitor. {_FIT}",
    )
    watch: Cost = key(
        default="10us",
        description="One look of the monitor that Go's runtime runs in each member and each node "
        "of clients. Source: run time by wake-up of those threads, etcd 3.4.23 on another machine "
        "with two cores: 10 to 11 us under 1, 16 and 64 clients.",
    )
    kernel_share: Annotated[float, Number(0, 1)] = key(
        default=0.254,
        description="Part of a core that no process gets even when all want more: interrupts, "
        "kernel threads, wake-ups. Source: two cores less the CPU seconds of three members and 16 "
        "clients, the same measurement.",
    )
    time_slice: Cost = key(
        default="1400us",
        description="How much CPU a thread asks for at a time: its deadline is so far off. "
        "Source: Linux, kernel/sched/fair.c: 0.7 ms x (1 + log2 of 2 CPUs).",
    )
    wake: Cost = key(
        default="12500ns",
        description="How long an idle core needs until it runs a thread. Source: TCP ping-pong on "
        "loopback, 38 us with 1 ms of rest between two, 13 us without; two wake-ups each.",
    )
    relay: Cost = key(
        default="0ns",
        description="A message between zones, on a shared machine where one process forwards and "
        "delays them all. Source: our own default, none.",
    )
    byte: Annotated[float, Number(0, 1_000)] = key(
        default=1.0,
        description="Nanoseconds a byte of key and value, each time that it is read, sent, saved "
        "or applied. Source: assumed; a TCP copy on loopback takes 0.6.",
    )
