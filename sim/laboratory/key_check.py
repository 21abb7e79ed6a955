"""Keys outside the region that a request is sent to: a mistake that only a script can make.

Law: a store reads no key that its snapshot's region does not hold. The model's clients cut their
requests by region, so its stores do not look; the laboratory's do.

Source: tikv/tikv components/raftstore/src/store/region_snapshot.rs (check_key_in_range).
"""

from __future__ import annotations

from collections.abc import Callable

from sim.protocol.region_errors import KeyNotInRegion
from sim.raftstore.peer import Peer
from sim.server.cluster import Cluster
from sim.storage.request import KvRequest

Carry = Callable[[KvRequest, Peer, int], object]


def key_outside(request: KvRequest) -> KeyNotInRegion | None:
    """Returns an error if the region that a request was sent to does not hold one of its keys."""
    keys = request.keys or tuple(mutation.key for mutation in request.mutations)
    outside = next((key for key in keys if not request.region.contains(key)), None)
    return None if outside is None else KeyNotInRegion(outside, request.region)


def check_keys(cluster: Cluster) -> None:
    """Lets every store look at the keys of what it carries out."""
    for store in cluster.stores.values():
        commands = store.serving.commands
        for kind, carry in list(commands.items()):
            commands[kind] = _checked(carry)


def _checked(carry: Carry) -> Carry:
    def carry_out(request: KvRequest, peer: Peer, max_ts: int) -> object:
        return key_outside(request) or carry(request, peer, max_ts)

    return carry_out
