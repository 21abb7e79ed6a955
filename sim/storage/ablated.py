"""Commands without one of the protections that RFC 77 argues for, and the table that has them all.

Law: with no ablation the table is the one of ``sim.storage.commands``; each ablation changes one
command and nothing else.

Source: RFC 77, Loss of pessimistic locks (why a pushed min_commit_ts must be replicated); tikv/tikv
src/storage/txn/actions/prewrite.rs (amend_pessimistic_lock).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.protocol.percolator import TxnStatus, load_lock
from sim.protocol.write_batch import HEARTBEAT, WriteBatch
from sim.storage.commands import COMMANDS, check_txn_status, prewrite
from sim.storage.request import Kind, KvRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from sim.protocol.ablations import Ablations
    from sim.raftstore.peer import Peer


def commands_under(ablations: Ablations) -> dict[int, Callable[[KvRequest, Peer, int], object]]:
    """Returns each kind's command."""
    commands = dict(COMMANDS)
    if ablations.no_amend_check:
        commands[Kind.PREWRITE] = _prewrite_unamended
    if ablations.replicate_nothing_on_check_txn_status:
        commands[Kind.CHECK_TXN_STATUS] = _push_in_memory
    return commands


def _prewrite_unamended(request: KvRequest, peer: Peer, max_ts: int) -> object:
    """Prewrite that takes a lost lock for one that was never needed."""
    mvcc, locks = peer.state.mvcc, peer.locks
    request.mutations = tuple(
        mutation
        if load_lock(mvcc, locks, mutation.key) is not None
        else mutation._replace(pessimistic_check=False)
        for mutation in request.mutations
    )
    return prewrite(request, peer, max_ts)


def _push_in_memory(request: KvRequest, peer: Peer, max_ts: int) -> object:
    """CheckTxnStatus that pushes a lock in memory where it is, without a write."""
    status = check_txn_status(request, peer, max_ts)
    if not isinstance(status, TxnStatus) or status.batch.cause != HEARTBEAT:
        return status
    table = peer.locks.map
    if not all(key in table for key, _ in status.batch.lock_puts):
        return status
    table.update(status.batch.lock_puts)
    return status._replace(batch=WriteBatch(HEARTBEAT))


def overlooked(ablations: Ablations) -> tuple[str, ...]:
    """Returns the reasons for which a lock table may refuse a lock, and is not heard."""
    reasons = {"term": ablations.no_term_check, "version": ablations.no_version_check}
    return tuple(reason for reason, is_overlooked in reasons.items() if is_overlooked)
