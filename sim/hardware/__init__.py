"""Devices: disks, networks, the CPU of a machine. They know nothing of TiKV."""

from sim.hardware.crowding import Crowd, Crowding, Longer
from sim.hardware.disk import Disk, DiskSpec
from sim.hardware.network import Network, NetworkSpec

__all__ = [
    "Crowd", "Crowding", "Disk", "DiskSpec", "Longer", "Network", "NetworkSpec",
]  # fmt: skip
