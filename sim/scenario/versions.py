"""Versions of TiKV, as numbers that can be compared."""

from functools import cache
from typing import Final

Version = tuple[int, int, int]

IN_MEMORY_SINCE: Final[Version] = (6, 0, 0)
"""Feature gate of in-memory pessimistic locks (tikv/tikv#12078)."""

COMMIT_PIPELINE_SINCE: Final[Version] = (6, 0, 0)
"""From when on threads insert into RocksDB's memtables side by side (tikv/tikv#12060)."""

ANSWERS_IN_POOL_SINCE: Final[Version] = (6, 5, 0)
"""The scheduler's pool hears of a proposal, and answers a pipelined lock (tikv/tikv#13854)."""

SMALLER_BLOCKS_SINCE: Final[Version] = (6, 6, 0)
"""Blocks of tables have 32 KiB, not 64 (tikv/tikv#14244)."""

TXN_STATUS_CACHE_SINCE: Final[Version] = (7, 5, 0)
"""Scheduler remembers which transactions were committed lately (tikv/tikv
src/storage/txn/txn_status_cache.rs)."""

CAMPAIGN_LATER_SINCE: Final[Version] = (8, 5, 0)
"""Children of a split stand for election once their parent leads (tikv/tikv#17625)."""

TRANSFER_UNCHECKED_SINCE: Final[Version] = (8, 5, 0)
"""TransferLeader is proposed whatever is under way in its region (tikv/tikv#17643)."""

RFC: Final = "rfc77"
"""Stands for no release, but for what RFC 77 says."""

_LAST_MINORS: Final = {5: 4, 6: 6, 7: 6, 8: 5}
"""By major version: the last minor one that was released; later ones are not modelled."""

RELEASES: Final = tuple(
    f"v{major}.{minor}" for major, last in _LAST_MINORS.items() for minor in range(last + 1)
)
"""Releases whose rules and defaults the model knows, the oldest first."""


@cache
def release_version(release: str) -> Version:
    """Returns the first version of a release such as ``v6.5``; RFC 77 was written for v6.0."""
    return parse_version("6.0.0" if release == RFC else f"{release}.0")


def parse_version(text: str) -> Version:
    """Returns ``6.0.0`` as numbers.

    Raises:
        ValueError: if it is not three numbers with dots between, with or without a leading ``v``.
    """
    parts = text.removeprefix("v").split(".")
    if len(parts) != 3 or not all(part.isdecimal() for part in parts):
        raise ValueError(f"{text!r} is not a version; write three numbers, as in 6.0.0")
    major, minor, patch = map(int, parts)
    return major, minor, patch
