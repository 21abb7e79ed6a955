"""Bytes of a request to a store and of its answer, on the network.

From kvproto's field sizes (kvrpcpb).
"""

from collections.abc import Sequence
from typing import Final

REQUEST_BYTES: Final = 150
"""A request without its keys and values: context, timestamps, primary."""

REPLY_BYTES: Final = 80
"""A reply without rows. ASSUMED; small against 10 Gb/s."""

_LOCK_BYTES: Final = 6
"""Of a key's mutation in a lock request: tags, lengths and op."""

_MUTATION_BYTES: Final = 8
"""Of a key's mutation in a prewrite, likewise."""

_KEY_BYTES: Final = 3
"""Of a key where it stands alone: tag and length."""


def read_bytes(keys: Sequence[bytes]) -> int:
    """Returns what a read adds to ``REQUEST_BYTES``."""
    return sum(map(len, keys))


def lock_bytes(primary: bytes, keys: Sequence[bytes]) -> int:
    """Returns what a lock request adds to ``REQUEST_BYTES``."""
    return len(primary) + sum(map(len, keys)) + _LOCK_BYTES * len(keys)


def prewrite_bytes(primary: bytes, keys: int, size_bytes: int) -> int:
    """Returns what a prewrite adds to ``REQUEST_BYTES``; keys and values have ``size_bytes``."""
    return size_bytes + len(primary) + _MUTATION_BYTES * keys


def other_keys_bytes(keys: Sequence[bytes]) -> int:
    """Returns what naming all other keys adds to the prewrite of an async commit's primary."""
    return sum(map(len, keys)) + 2 * len(keys)


def keys_bytes(keys: Sequence[bytes]) -> int:
    """Returns what a commit or a rollback adds to ``REQUEST_BYTES``."""
    return sum(map(len, keys)) + _KEY_BYTES * len(keys)


def rows_bytes(row_bytes: int, keys: int, rows: int) -> int:
    """Returns what the rows of an answer add to ``REPLY_BYTES``."""
    return row_bytes * max(keys, rows)
