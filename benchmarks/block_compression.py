"""How much smaller zstd makes the blocks of loaded tables: ``hardware.lsm.block_compression``.

Makes rows as go-tpc and sysbench load them, in TiDB's row format and RocksDB's block format
(prefixes shared by neighbours, a restart every 16 keys), compresses blocks of 64 KiB as the last
levels do, and prints stored bytes per byte. Takes seconds.

    .venv/bin/python -m benchmarks.block_compression
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

import pyarrow as pa

from sim.protocol.encoding import SHORT_VALUE_MAX_BYTES
from sim.protocol.keys import encoded_ints, row_key
from sim.scenario.schema.tikv import Tikv
from sim.workload.tpcc import keys

BLOCK_BYTES: Final = Tikv().block_bytes
LETTERS: Final = b"abcdefghijklmnopqrstuvwxyz"
CHARACTERS: Final = LETTERS + LETTERS.upper() + b"1234567890"
DIGITS: Final = CHARACTERS[-10:]
BLOCKS: Final = 12
_RESTART: Final = 16
_WRITE_RECORD: Final = b"P\x80\x80\xe8\xb5\xbe\xa1\xa3\x9d\x06"
"""Type and start_ts of a put; rows that were loaded together share them."""

Row = tuple[bytes, bytes]


def text(random: Random, shortest: int, longest: int, alphabet: bytes = CHARACTERS) -> bytes:
    """Returns a random string, as go-tpc's and sysbench's are."""
    return bytes(random.choices(alphabet, k=random.randint(shortest, longest)))


def value(columns: list[bytes]) -> bytes:
    """Returns a row: version, flags, two counts, ids, ends, values (tidb pkg/util/rowcodec)."""
    ends = [sum(map(len, columns[: number + 1])) for number in range(len(columns))]
    head = bytes((128, 0)) + len(columns).to_bytes(2, "little") + bytes(2)
    offsets = b"".join(end.to_bytes(2, "little") for end in ends)
    return head + bytes(range(1, len(columns) + 1)) + offsets + b"".join(columns)


def stock(random: Random, number: int) -> Row:
    """Returns one stock row of go-tpc."""
    districts = [text(random, 24, 24, LETTERS) for _ in range(10)]
    columns = [bytes([random.randint(10, 100)]), *districts, b"\0", b"\0", b"\0"]
    return keys.STOCK + encoded_ints((77, number)), value([*columns, text(random, 26, 50)])


def customer(random: Random, number: int) -> Row:
    """Returns one customer row of go-tpc; four decimals of eight bytes."""
    address = [text(random, 10, 20) for _ in range(3)]
    known = [text(random, 2, 2, LETTERS), text(random, 4, 4, DIGITS) + b"11111"]
    decimals = [bytes(6) + text(random, 2, 2)] * 4
    columns = [b"BARPRIPRES", b"OE", text(random, 8, 16), *address, *known]
    columns += [text(random, 16, 16, DIGITS), bytes(8), b"GC", *decimals, b"\1", b"\0"]
    return keys.CUSTOMER + encoded_ints((77, 3, number)), value([*columns, text(random, 300, 500)])


def sysbench(random: Random, number: int) -> Row:
    """Returns one row of sysbench: ``k``, ``c`` and ``pad``."""
    groups = [text(random, 11, 11, DIGITS) for _ in range(15)]
    k = random.randrange(10_000_000).to_bytes(4, "little")
    return row_key(90, number), value([k, b"-".join(groups[:10]), b"-".join(groups[10:])])


def _padded(key: bytes) -> bytes:
    """Returns a key as TiKV stores it: groups of 8 and a marker, commit_ts, RocksDB's trailer."""
    groups = [key[at : at + 8] for at in range(0, len(key) + 1, 8)]
    coded = b"".join(each.ljust(8, b"\0") + bytes([247 + len(each)]) for each in groups)
    return b"z" + coded + b"\xf9\xc5\x12\x34\x56\x78\x9a\xbc" + bytes(8)


def _shared_bytes(key: bytes, last: bytes) -> int:
    """Returns the length of the prefix that two keys share."""
    differ = (at for at, (a, b) in enumerate(zip(key, last, strict=False)) if a != b)
    return next(differ, min(len(key), len(last)))


def stored(row: bytes, cf: str) -> bytes:
    """Returns what a column family stores of a row."""
    if cf == "default":
        return row
    return _WRITE_RECORD + (row if len(row) <= SHORT_VALUE_MAX_BYTES else b"")


def blocks(make: Callable[[Random, int], Row], cf: str) -> list[bytes]:
    """Returns blocks of rows in the order of their keys."""
    made: list[bytes] = []
    random, block, last, number = Random(1), bytearray(), b"", 0
    while len(made) < BLOCKS:
        number += 1
        raw_key, row = make(random, number)
        row = stored(row, cf)
        key = _padded(raw_key)
        shared = _shared_bytes(key, last) if number % _RESTART else 0
        block += bytes((shared, len(key) - shared)) + len(row).to_bytes(2, "little")
        block += key[shared:] + row
        last = key
        if len(block) >= BLOCK_BYTES:
            made.append(bytes(block))
            block.clear()
    return made


RECORDS: Final = (
    ("stock, default CF", stock, "default"),
    ("customer, default CF", customer, "default"),
    ("stock, write CF", stock, "write"),
    ("sysbench, write CF", sysbench, "write"),
)
"""A name, what makes a row, and the column family."""


def main() -> None:
    """Prints a line a table and column family."""
    for name, make, cf in RECORDS:
        made = blocks(make, cf)
        packed = sum(len(pa.compress(block, codec="zstd", asbytes=True)) for block in made)
        print(f"{name:22} {packed / sum(map(len, made)):.2f}")


if __name__ == "__main__":
    main()
