"""Devices: disks and networks, ignorant of TiKV."""

from sim.hardware.disk import Disk, DiskSpec
from sim.hardware.network import Link, Network, NetworkSpec

__all__ = ["Disk", "DiskSpec", "Link", "Network", "NetworkSpec"]
