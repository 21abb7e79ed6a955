"""The machines that members and clients run on: one for each of them, or one for all."""

from typing import Final

from sim.engine.environment import LeanEnv
from sim.etcd.go_heap import Heap
from sim.etcd.go_process import GoProcess
from sim.etcd.shared_cores import Program, SharedCores
from sim.hardware.disk import Disk, DiskSpec
from sim.hardware.file_system import NO_METADATA, Metadata
from sim.scenario.schema.hardware import Hardware
from sim.streams import Stream, Streams
from sim.units import NS_PER_US

_PERIOD_NS: Final = 500 * NS_PER_US
"""How often work in the background comes. ASSUMED."""

_MOST_LOADS: Final = 7
"""Phases that background work is spread over."""


class SyncDisk(Disk):
    """A disk whose appends leave out what the system call takes of the CPU.

    fio's latencies include it; here the caller's thread pays it itself, on cores that it shares.
    """

    def __init__(self, spec: DiskSpec, stream: Stream, cpu_ns: int) -> None:
        super().__init__(spec, stream)
        self._cpu_ns = cpu_ns

    def sync_write(self, now_ns: int, size_bytes: int, metadata: Metadata = NO_METADATA) -> int:
        """Returns when the device will have done its part."""
        return max(now_ns, super().sync_write(now_ns, size_bytes, metadata) - self._cpu_ns)


class EtcdMachine:
    """Cores and a disk."""

    def __init__(
        self, env: LeanEnv, hardware: Hardware, cores: int, streams: Streams, name: str
    ) -> None:
        costs = self._costs = hardware.etcd
        self._env = env
        self._loads = 0
        self.cores = SharedCores(env, cores, costs.time_slice_ns, costs.wake_ns)
        stream = streams.stream(f"{name}/raft-disk")
        self.disk = SyncDisk(hardware.raft_disk, stream, costs.sync_ns)
        self._load(costs.kernel_share)

    def process(self, heap: Heap) -> GoProcess:
        """Returns a new Go process, with a proc for each core."""
        self._load(self._costs.process_share)
        return GoProcess(self._env, self.cores, self.cores.count, self._costs.watch_ns, heap)

    def _load(self, share: float) -> None:
        """Starts a thread that uses a share of a core, as long as it gets one."""
        if share:
            thread = Program(self.cores, 1)
            self._loads += 1  # They wake up at different times.
            service_ns = round(_PERIOD_NS * share)
            first_ns = self._env.now_ns + self._loads * _PERIOD_NS // _MOST_LOADS
            self._env.at(first_ns, self._wake, (thread, service_ns))

    def _wake(self, load: tuple[Program, int]) -> None:
        thread, service_ns = load
        thread.submit(service_ns, lambda _: None, None)
        self._env.at(self._env.now_ns + _PERIOD_NS, self._wake, load)


class Machines:
    """All machines by the node on it; with ``hardware.shared`` there is one for all."""

    def __init__(self, env: LeanEnv, hardware: Hardware, streams: Streams) -> None:
        self._env = env
        self._hardware = hardware
        self._streams = streams
        self._machines: dict[str, EtcdMachine] = {}

    def of(self, node: str, cores: int) -> EtcdMachine:
        """Returns the machine of a node, which has so many cores if it has it to itself."""
        if self._hardware.shared:
            node, cores = "machine", self._hardware.store_cores
        machine = self._machines.get(node)
        if machine is None:
            machine = EtcdMachine(self._env, self._hardware, cores, self._streams, node)
            self._machines[node] = machine
        return machine

    def core_count(self) -> int:
        """Returns how many cores there are in all."""
        return sum(machine.cores.count for machine in self._machines.values())

    def busy_ns(self) -> int:
        """Returns the core time used so far, by whomever."""
        return sum(machine.cores.busy_ns for machine in self._machines.values())
