"""TiDB's keys: how a row or an index entry becomes bytes, and how long TiKV makes them.

Keys are what TiDB sends, not yet padded; ``encoded_len`` says how long TiKV's memcomparable form
is, and sizes on disk are counted with that. Order of the bytes is order of the rows.

Sources: pingcap/tidb pkg/tablecodec (``t{table}_r``, ``t{table}_i{index}``), pkg/util/codec
(``EncodeInt``: a flag byte and 8 bytes); tikv/tikv components/codec (groups of 8 plus a marker).
"""

from functools import cache
from struct import Struct

_SIGN = 1 << 63
_INT_FLAG = 3
_PACK = {count: Struct(">" + "BQ" * count).pack for count in range(1, 17)}
_PACK_2, _PACK_3, _PACK_4 = (_PACK[count] for count in (2, 3, 4))
_PACK_HANDLE = Struct(">Q").pack


@cache
def record_prefix(table_id: int) -> bytes:
    """Returns the prefix of all row keys of a table: 11 bytes."""
    return b"t" + _PACK_HANDLE(table_id + _SIGN) + b"_r"


@cache
def index_prefix(table_id: int, index_id: int) -> bytes:
    """Returns the prefix of all entries of an index: 19 bytes."""
    return b"t" + _PACK_HANDLE(table_id + _SIGN) + b"_i" + _PACK_HANDLE(index_id + _SIGN)


def row_key(table_id: int, handle: int) -> bytes:
    """Returns the key of a row with an integer handle: 19 bytes."""
    return record_prefix(table_id) + _PACK_HANDLE(handle + _SIGN)


def index_key(table_id: int, index_id: int, *columns: int) -> bytes:
    """Returns the key of an index entry: 19 + 9 bytes for each int column, handle included."""
    return index_prefix(table_id, index_id) + encoded_ints(columns)


def encoded_ints(columns: tuple[int, ...]) -> bytes:
    """Returns ints as TiDB's codec writes them: a flag and 8 big-endian bytes, sign flipped."""
    count = len(columns)
    if count == 4:
        a, b, c, d = columns
        return _PACK_4(3, a + _SIGN, 3, b + _SIGN, 3, c + _SIGN, 3, d + _SIGN)
    if count == 3:
        a, b, c = columns
        return _PACK_3(3, a + _SIGN, 3, b + _SIGN, 3, c + _SIGN)
    if count == 2:
        a, b = columns
        return _PACK_2(3, a + _SIGN, 3, b + _SIGN)
    flat: list[int] = []
    for column in columns:
        flat += (_INT_FLAG, column + _SIGN)
    return _PACK[count](*flat) if flat else b""


def encoded_len(raw_len: int) -> int:
    """Returns the length of a key in TiKV: groups of 8 bytes, each with a marker byte."""
    return (raw_len // 8 + 1) * 9


def show_key(key: bytes) -> str:
    """Returns a key as text, with escapes for bytes that are not ASCII."""
    return key.decode("ascii", "backslashreplace")
