"""A put, and the workload that draws them: random keys, one a request, no transactions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from sim.protocol.encoding import ENTRY_OVERHEAD_BYTES
from sim.protocol.write_batch import COMMIT
from sim.scenario.schema.arrival import Workload
from sim.streams import Streams

CLASS: Final = "put"
"""The class of a put's latency."""

_REQUEST_BYTES: Final = 40
"""A PutRequest with its HTTP/2 and gRPC frames, without key and value."""

_ENTRY_BYTES: Final = 46
"""What a put's raft entry holds besides key and value: InternalRaftRequest with its header and id,
PutRequest's fields (etcd raft_internal.proto, rpc.proto)."""

_REVISION_BYTES: Final = 60
"""What bolt keeps with a put: the revision as key, mvccpb.KeyValue's fields, the page's element."""


PUT_CAUSE: Final = COMMIT
"""What the bytes of puts are charged to."""


class PutSizes:
    """Bytes of one put, everywhere it is sent or written."""

    def __init__(self, section: Workload) -> None:
        key_and_value = section.key_bytes + section.value_bytes
        self.request_bytes = key_and_value + _REQUEST_BYTES
        self.raft_bytes = key_and_value + max(0, _ENTRY_BYTES - ENTRY_OVERHEAD_BYTES)
        self.backend_bytes = key_and_value + _REVISION_BYTES


@dataclass(slots=True, eq=False)
class Put:
    """One put, from its client to its entry and back."""

    key: bytes
    version: int
    """Its number in the run; later puts of a key have greater ones."""
    sizes: PutSizes
    client: int
    """Who waits for the answer."""
    connection: int = 0
    """On which it is sent and answered."""
    member: int = 0
    """To which it is sent."""
    serves: Any = None
    """The member's process that has read it; another one of that member (after a crash) has no
    connection to answer on."""
    error: str = ""
    """Why it has failed; empty: it is done."""
    sent_ns: int = 0

    @property
    def cause(self) -> int:
        """For the ledger of disk bytes."""
        return PUT_CAUSE

    @property
    def raft_bytes(self) -> int:
        """Its size within a raft entry."""
        return self.sizes.raft_bytes

    @property
    def batch(self) -> Put:
        """What the log engine charges for it: itself."""
        return self


class PutWorkload:
    """Puts for any number of clients."""

    def __init__(self, section: Workload, streams: Streams) -> None:
        self.sizes = PutSizes(section)
        self._keys = section.keys
        self._key_bytes = section.key_bytes
        self._stream_of = cache(lambda client: streams.stream(f"client-{client}/txn"))
        self._version = 0

    def put(self, client: int) -> Put:
        """Draws the next put of one client."""
        number = self._stream_of(client).randint(0, self._keys - 1)
        key = b"%0*d" % (self._key_bytes, number)
        self._version += 1
        return Put(key, self._version, self.sizes, client)
