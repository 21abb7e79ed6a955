"""What a file system writes besides, when an append is synced: by the block device's own counters.

Makes small file systems on loop devices, appends to a file that grows, to one with preallocated
pages and to one that is written over, each append with fdatasync, and prints bytes and I/Os of the
device per sync. ``sim/hardware/file_system.py`` has its figures from here. Needs Linux, root,
mkfs.ext4 and mkfs.xfs; writes into a temporary folder only.

    sudo .venv/bin/python -m benchmarks.file_systems
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from sim.units import GIB, KIB, MIB

SYNCS: Final = 1_000
PAYLOADS_BYTES: Final = (100, KIB, 4 * KIB, 16 * KIB)
MAKE: Final = {
    "ext4": ("mkfs.ext4", "-q", "-F"),
    "ext4-without-journal": ("mkfs.ext4", "-q", "-F", "-O", "^has_journal"),
    "xfs": ("mkfs.xfs", "-q", "-f"),
}
_KEEP_SIZE: Final = 1
_SECTOR_BYTES: Final = 512


class Written(NamedTuple):
    """What a block device has written so far."""

    ios: int
    """Writes and flushes."""
    size_bytes: int


def written(device: str) -> Written:
    """Returns the counters of a device, such as ``loop0``."""
    fields = Path(f"/sys/block/{device}/stat").read_text(encoding="ascii").split()
    return Written(int(fields[4]), int(fields[6]) * _SECTOR_BYTES)


@contextmanager
def mounted(file_system: str, folder: Path) -> Iterator[tuple[Path, str]]:
    """Yields the folder and the device of a new file system on a loop device."""
    image, place = folder / f"{file_system}.img", folder / file_system
    place.mkdir()
    with image.open("wb") as file:
        file.truncate(2 * GIB)
    subprocess.run([*MAKE[file_system], image], check=True)
    found = subprocess.run(
        ["losetup", "--find", "--show", image], check=True, capture_output=True, text=True
    )
    device = found.stdout.strip()
    try:
        subprocess.run(["mount", device, place], check=True)
        try:
            yield place, Path(device).name
        finally:
            subprocess.run(["umount", place], check=True)
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)
        image.unlink()


def prepare(file: int, kind: str, size_bytes: int) -> None:
    """Makes an empty file what ``kind`` says: growing as RocksDB's logs, preallocated, recycled."""
    if kind == "growing":
        keep = ctypes.CDLL(None).fallocate64(
            file, _KEEP_SIZE, ctypes.c_long(0), ctypes.c_long(size_bytes)
        )
        assert keep == 0, "fallocate was refused"
    elif kind == "preallocated":
        os.posix_fallocate(file, 0, size_bytes)
    else:
        for _ in range(-(-size_bytes // MIB)):
            os.write(file, bytes(MIB))
        os.lseek(file, 0, os.SEEK_SET)
    os.fsync(file)
    os.sync()


def per_sync(place: Path, device: str, kind: str, payload_bytes: int) -> tuple[float, float]:
    """Returns bytes and I/Os (flushes included) of the device per append with fdatasync."""
    path = place / "log"
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    prepare(file, kind, SYNCS * payload_bytes + MIB)
    before, payload = written(device), os.urandom(payload_bytes)
    for _ in range(SYNCS):
        os.write(file, payload)
        os.fdatasync(file)
    after = written(device)
    os.close(file)
    path.unlink()
    return (after.size_bytes - before.size_bytes) / SYNCS, (after.ios - before.ios) / SYNCS


def main() -> int:
    """Prints a line for each file system, kind of file and payload."""
    if os.geteuid() != 0:
        print("benchmarks.file_systems: mounts loop devices; run it as root", file=sys.stderr)
        return 2
    print(f"{'file system':<22}{'file':<14}{'payload B':>10}{'bytes a sync':>14}{'I/Os':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for file_system in MAKE:
            with mounted(file_system, Path(folder)) as (place, device):
                for kind in ("growing", "preallocated", "recycled"):
                    for payload in PAYLOADS_BYTES:
                        size, ios = per_sync(place, device, kind, payload)
                        print(f"{file_system:<22}{kind:<14}{payload:>10,}{size:>14,.0f}{ios:>7.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
