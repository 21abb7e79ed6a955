"""etcd's benchmark: puts of random keys, one a request, no transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sim.protocol.encoding import ENTRY_OVERHEAD_BYTES
from sim.protocol.records import PUT, Write
from sim.protocol.write_batch import COMMIT, WriteBatch

if TYPE_CHECKING:
    from sim.scenario import resolved
    from sim.streams import Stream, Streams
    from sim.workload.layout import Table
    from sim.workload.statement import Transaction

CLASS: Final = "put"
"""The class of a put's latency."""

_REQUEST_BYTES: Final = 46
"""What a put's raft entry holds besides key and value: InternalRaftRequest with its header and id,
PutRequest's fields (etcd raft_internal.proto, rpc.proto)."""

_REVISION_BYTES: Final = 60
"""What bolt keeps with a put: the revision as key, mvccpb.KeyValue's fields, the page's element."""


class EtcdWorkload:
    """Puts for any number of clients."""

    __slots__ = ("_key_bytes", "_keys", "_sizes", "_streams", "_streams_by_client")

    def __init__(self, section: resolved.Workload, streams: Streams) -> None:
        self._keys = section.keys
        self._key_bytes = section.key_bytes
        self._sizes = _Sizes(section)
        self._streams = streams
        self._streams_by_client: dict[int, Stream] = {}

    @property
    def classes(self) -> tuple[str, ...]:
        """Returns the one class there is."""
        return (CLASS,)

    def tables(self) -> tuple[Table, ...]:
        """Returns none: etcd has one key space, in one Raft group."""
        return ()

    def transaction(self, client_id: int) -> Transaction:
        """Is not there: a put is no transaction."""
        raise NotImplementedError(f"client {client_id} asked for a transaction; etcd has puts")

    def put(self, client_id: int, number: int) -> tuple[bytes, WriteBatch]:
        """Draws the next put of one client: its key and what it writes.

        ``number`` is that of the put in the run; its version carries it.
        """
        stream = self._streams_by_client.get(client_id)
        if stream is None:
            stream = self._streams.stream(f"client-{client_id}/txn")
            self._streams_by_client[client_id] = stream
        key = b"%0*d" % (self._key_bytes, stream.randint(0, self._keys - 1))
        batch = WriteBatch(COMMIT)
        sizes = self._sizes
        batch.write_puts.append((key, Write(PUT, number, number, sizes.value_bytes, number)))
        batch.keys = 1
        batch.raft_bytes = sizes.raft_bytes
        batch.wal_bytes = sizes.backend_bytes
        return key, batch


class _Sizes:
    """Bytes of one put, everywhere it is written."""

    __slots__ = ("backend_bytes", "raft_bytes", "value_bytes")

    def __init__(self, section: resolved.Workload) -> None:
        both = section.key_bytes + section.value_bytes
        self.value_bytes = section.value_bytes
        self.raft_bytes = both + max(0, _REQUEST_BYTES - ENTRY_OVERHEAD_BYTES)
        self.backend_bytes = both + _REVISION_BYTES
