"""What a file system writes in addition to the bytes of a file, when an append to it is synced.

fdatasync omits metadata that are not needed to read the bytes again. They are needed if the file
grows (its size) or if a page is written for the first time (that it holds data now). With a journal
they are a descriptor, the block with the inode and a commit record, in two I/Os; without one, the
block with the inode; XFS logs the changed fields only. A page that was written before needs none.

Source: measured (docs/CALIBRATION.md, File systems): appends of 100 B to 16 KiB with fdatasync on
ext4 with and without a journal and XFS, by the block device's own counters; for the mechanism
facebook/rocksdb#746.
"""

from dataclasses import dataclass
from typing import Final, Literal

from sim.units import KIB

FileSystemName = Literal["ext4", "ext4-without-journal", "xfs"]

LogFile = Literal["growing", "preallocated", "recycled"]
"""The kind of file that a log is appended to.

``growing``: every append makes the file longer. ``preallocated``: it has its size, but its pages
were never written. ``recycled``: an old log is overwritten.
"""


@dataclass(frozen=True, slots=True)
class Metadata:
    """What one sync writes in addition."""

    size_bytes: int
    ios: int


NO_METADATA: Final = Metadata(0, 0)

FILE_SYSTEMS: Final[dict[FileSystemName, Metadata]] = {
    "ext4": Metadata(12 * KIB, 2),
    "ext4-without-journal": Metadata(4 * KIB, 1),
    "xfs": Metadata(1 * KIB, 1),
}
"""By file system: metadata of a sync that changes a file's size or which of its pages are used."""


def metadata_of(file: LogFile, first_written_pages: int, file_system: FileSystemName) -> Metadata:
    """Returns the metadata of a sync after an append to ``first_written_pages`` new pages."""
    changed = file == "growing" or (file == "preallocated" and first_written_pages > 0)
    return FILE_SYSTEMS[file_system] if changed else NO_METADATA


def metadata_share(file: LogFile, size_bytes: float, page_bytes: int) -> float:
    """Returns the share of appends with metadata, if they begin anywhere in a page."""
    if file == "preallocated":
        return min(1.0, size_bytes / page_bytes)
    return float(file == "growing")
