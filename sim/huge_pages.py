"""Huge pages for a process that reads all over its memory: a unit has thousands of replicas.

A processor keeps the addresses of a few thousand pages at hand; to find another page costs it
several reads, in a virtual machine up to 24. Pages of 2 MiB in place of 4 KiB are few enough. Linux
gives them on request, but Python does not ask, and maps its memory in pieces of 1 MiB, which are
too small. So memory that was added is joined into huge pages now and then.

Source: madvise(2) (MADV_COLLAPSE: Linux 6.1); CPython Objects/obmalloc.c (arenas).
"""

import ctypes
from collections.abc import Iterator
from mmap import PAGESIZE
from pathlib import Path
from typing import Final

_PAGE_BYTES: Final = 2 << 20
_MADV_HUGEPAGE: Final = 14
_MADV_COLLAPSE: Final = 25

_WORTH_KIB: Final = 8 << 10
"""Growth from which pages are joined again, which takes 1 ms a MiB of growth."""

_MAPS: Final = Path("/proc/self/maps")
_STATM: Final = Path("/proc/self/statm")


class HugePages:
    """Keeps this process's memory in huge pages, once it grows."""

    def __init__(self) -> None:
        self._joined_kib = _resident_kib()

    def keep_up(self) -> None:
        """Joins pages if memory has grown much; where the kernel cannot, nothing changes."""
        if _resident_kib() - self._joined_kib >= _WORTH_KIB:
            join_pages()
            self._joined_kib = _resident_kib()


def join_pages() -> None:
    """Asks the kernel to join all pages of this process's memory into huge ones."""
    madvise = ctypes.CDLL(None).madvise
    madvise.argtypes = (ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int)
    for begin, end in _anonymous_memory():
        madvise(begin, end - begin, _MADV_HUGEPAGE)
        madvise(begin, end - begin, _MADV_COLLAPSE)


def _resident_kib() -> int:
    """Returns 0 where the kernel does not say; the peak that it counts may be a parent's."""
    if not _STATM.exists():
        return 0
    return int(_STATM.read_text(encoding="ascii").split()[1]) * (PAGESIZE >> 10)


def _anonymous_memory() -> Iterator[tuple[int, int]]:
    """Yields the first address and the end of the huge pages that fit into what is no file's."""
    for line in _MAPS.read_text(encoding="utf-8", errors="replace").splitlines():
        addresses, access, _, _, _, *name = line.split()
        if access == "rw-p" and (not name or name == ["[heap]"]):
            first, last = (int(address, 16) for address in addresses.split("-"))
            begin, end = -(-first // _PAGE_BYTES) * _PAGE_BYTES, last // _PAGE_BYTES * _PAGE_BYTES
            if begin < end:
                yield begin, end
