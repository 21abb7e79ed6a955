"""The machines that members and clients run on: one for each of them, or one for all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sim.etcd.go_process import GoProcess
from sim.etcd.shared_cores import Process, SharedCores
from sim.hardware.disk import Disk
from sim.hardware.file_system import NO_METADATA, Metadata
from sim.units import NS_PER_US

if TYPE_CHECKING:
    from sim.engine import LeanEnv
    from sim.etcd.go_heap import Heap
    from sim.hardware.disk import DiskSpec
    from sim.scenario.resolved import Hardware
    from sim.streams import Stream, Streams


_PERIOD_NS: Final = 500 * NS_PER_US
"""How often work in the background comes. ASSUMED."""

_MOST_LOADS: Final = 7
"""Phases that background work is spread over."""


class SyncDisk(Disk):
    """A disk whose appends leave out what the system call takes of the CPU.

    fio's latencies hold it; here the caller's thread pays it itself, on cores it shares.
    """

    __slots__ = ("_cpu_ns",)

    def __init__(self, spec: DiskSpec, stream: Stream, cpu_ns: int) -> None:
        super().__init__(spec, stream)
        self._cpu_ns = cpu_ns

    def sync_write(self, now_ns: int, size_bytes: int, metadata: Metadata = NO_METADATA) -> int:
        """Returns when the device will have done its part."""
        return max(now_ns, super().sync_write(now_ns, size_bytes, metadata) - self._cpu_ns)


class Machine:
    """Cores and a disk."""

    __slots__ = ("_env", "_kernel", "_loads", "_share", "_watch_ns", "cores", "disk")

    def __init__(
        self, env: LeanEnv, hardware: Hardware, cores: int, streams: Streams, name: str
    ) -> None:
        self.cores = SharedCores(env, cores, hardware.etcd.time_slice_ns, hardware.etcd.wake_ns)
        stream = streams.stream(f"{name}/raft-disk")
        self.disk = SyncDisk(hardware.raft_disk, stream, hardware.etcd.sync_ns)

        self._env = env
        self._kernel = hardware.etcd.kernel_share
        self._share = hardware.etcd.process_share
        self._watch_ns = hardware.etcd.watch_ns
        self._loads = 0
        self._load(self._kernel)

    def process(self, heap: Heap) -> GoProcess:
        """Returns a new Go process, with a proc for each core."""
        self._load(self._share)
        return GoProcess(self._env, self.cores, self.cores.count, self._watch_ns, heap)

    def _load(self, share: float) -> None:
        """Lets a thread of its own use a share of a core, as long as it gets one."""
        if share:
            thread = Process(self.cores, 1)
            self._loads += 1  # They wake up at different times.
            service_ns = round(_PERIOD_NS * share)
            first_ns = self._env.now_ns + self._loads * _PERIOD_NS // _MOST_LOADS
            self._env.at(first_ns, self._wake, (thread, service_ns))

    def _wake(self, load: tuple[Process, int]) -> None:
        load[0].submit(load[1], _rest, None)
        self._env.at(self._env.now_ns + _PERIOD_NS, self._wake, load)


def _rest(_: None) -> None:
    """Does nothing until the next period."""


class Machines:
    """All machines of a cluster; with ``hardware.shared`` they are one and the same."""

    __slots__ = ("_env", "_hardware", "_machines", "_streams", "relay")

    def __init__(self, env: LeanEnv, hardware: Hardware, streams: Streams) -> None:
        self._env = env
        self._hardware = hardware
        self._streams = streams
        self._machines: dict[str, Machine] = {}
        self.relay: Process | None = None
        """What forwards messages between zones, if a process does."""
        if hardware.shared and hardware.etcd.relay_ns:
            self.relay = Process(self.of_store("").cores, 1)

    def of_store(self, name: str) -> Machine:
        """Returns the machine of a member."""
        return self._of(name, self._hardware.store_cores)

    def of_client(self, name: str) -> Machine:
        """Returns the machine of a node with clients."""
        return self._of(name, self._hardware.tidb_cores)

    def _of(self, name: str, cores: int) -> Machine:
        if self._hardware.shared:
            name, cores = "machine", self._hardware.store_cores
        machine = self._machines.get(name)
        if machine is None:
            machine = Machine(self._env, self._hardware, cores, self._streams, name)
            self._machines[name] = machine
        return machine

    def core_count(self) -> int:
        """Returns how many cores there are in all."""
        return sum(machine.cores.count for machine in self._machines.values())

    def busy_ns(self) -> int:
        """Returns the core time used so far, by whomever."""
        return sum(machine.cores.busy_ns for machine in self._machines.values())
