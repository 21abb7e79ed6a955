"""Commands by which others find out about a transaction, and reads.

Source: kvproto ``kvrpcpb.proto``; tikv/tikv src/storage/txn/commands.
"""

from typing import Final

from sim.laboratory.answers import show_answer, show_lock, show_refusal
from sim.laboratory.grammar import ScriptProblem
from sim.laboratory.laboratory import Command, Laboratory, Txn
from sim.laboratory.routing import new_request
from sim.laboratory.stores import key_outside, value_line, value_lines
from sim.laboratory.values import key_of, key_range, show_key
from sim.laboratory.words import Words
from sim.protocol.percolator import ScannedLocks
from sim.storage.request import Kind, KvRequest
from sim.units import NS_PER_MS

_LAST_KEY: Final = b"\xff" * 16
"""Behind every key that a script may name: the end of an unbounded scan."""


def heartbeat(lab: Laboratory, words: Words) -> str:
    """Sends TxnHeartBeat to the primary."""
    txn = lab.txn(words.next("a transaction"))
    primary = _primary(txn, words)
    request = new_request(lab, words, Kind.HEARTBEAT, txn, [primary])
    request.primary = primary
    request.lock_ttl_ms = words.duration_ns("ttl", "20000") // NS_PER_MS
    return lab.ask(request, show_answer, words)


def check_txn_status(lab: Laboratory, words: Words) -> str:
    """Sends CheckTxnStatus to the primary."""
    txn = lab.txn(words.next("a transaction"))
    caller = words.text("caller-start-ts", "0")
    primary = _primary(txn, words)
    request = new_request(lab, words, Kind.CHECK_TXN_STATUS, txn, [primary])
    request.primary = primary
    request.for_update_ts = lab.txns[caller].start_ts if caller in lab.txns else lab.time(caller)
    request.current_ts = lab.time(words.text("current-ts", "now"))
    request.rollback_if_not_exist = words.flag("rollback-if-not-exist")
    request.pessimistic = words.flag("resolving-pessimistic-lock")
    request.force_sync_commit = words.flag("force-sync-commit")
    return lab.ask(request, show_answer, words)


def check_secondary_locks(lab: Laboratory, words: Words) -> str:
    """Sends CheckSecondaryLocks."""
    txn = lab.txn(words.next("a transaction"))
    request = new_request(lab, words, Kind.CHECK_SECONDARY_LOCKS, txn, words.keys())
    return lab.ask(request, show_answer, words)


def resolve_lock(lab: Laboratory, words: Words) -> str:
    """Sends ResolveLock; without keys, for all that the transaction has locked in the region."""
    txn = lab.txn(words.next("a transaction"))
    keys = words.keys(at_least=0)
    route_keys = keys or ([] if words.has("region") else list(txn.keys))
    request = new_request(lab, words, Kind.RESOLVE_LOCK, txn, route_keys)
    request.keys = tuple(keys)
    request.commit_ts = lab.time(words.text("commit-ts", "0"))
    return lab.ask(request, show_answer, words)


def cleanup(lab: Laboratory, words: Words) -> str:
    """Sends Cleanup: rolls one key back, if ``current_ts`` is 0 or the lock has expired."""
    txn = lab.txn(words.next("a transaction"))
    request = new_request(lab, words, Kind.CLEANUP, txn, [key_of(words.next("a key"))])
    request.current_ts = lab.time(words.text("current-ts", "0"))
    return lab.ask(request, show_answer, words)


def _primary(txn: Txn, words: Words) -> bytes:
    named = words.keys_option("primary")
    place = words.next_or("")
    if named:
        return named[0]
    if place:
        return key_of(place)
    if not txn.primary:
        raise ScriptProblem(f"{txn.name} has no primary yet; write primary=k1")
    return txn.primary


def get(lab: Laboratory, words: Words) -> str:
    """Sends a point read."""
    txn = lab.reader(words.text("ts", "start-ts", "at", "now"))
    keys = words.keys()
    request = new_request(lab, words, Kind.BATCH_GET if len(keys) > 1 else Kind.GET, txn, keys)
    request.bypass = words.numbers("bypass")
    request.access = words.numbers("access")
    return lab.ask(request, _show_values, words)


def _show_values(request: KvRequest) -> str:
    refusal = show_refusal(request.result or key_outside(request))
    if refusal is not None:
        return refusal
    return "\n".join(value_line(request, key) for key in request.keys)


def scan(lab: Laboratory, words: Words) -> str:
    """Sends a range read."""
    txn = lab.reader(words.text("ts", "start-ts", "at", "now"))
    limit = words.number("limit")
    start, end = key_range(words.next_or("[-inf,+inf)"))
    request = new_request(lab, words, Kind.COP, txn, [start or b""])
    first, last = max(start, request.region.start_key), _before(end, request.region.end_key)
    request.keys = (first, last)
    request.bypass = words.numbers("bypass")
    request.access = words.numbers("access")

    def describe(done: KvRequest) -> str:
        refusal = show_refusal(done.result)
        if refusal is not None:
            return refusal
        return "\n".join(value_lines(done, first, last)[: limit or None]) or "nothing"

    return lab.ask(request, describe, words)


def _before(end: bytes, region_end: bytes) -> bytes:
    """Returns the last key of a range that ends before ``end`` and before the region's end."""
    ends = [key for key in (end, region_end) if key]
    if not ends:
        return _LAST_KEY
    nearest = min(ends)
    return nearest[:-1] + bytes([nearest[-1] - 1]) + _LAST_KEY if nearest[-1] else nearest[:-1]


def scan_locks(lab: Laboratory, words: Words) -> str:
    """Sends ScanLock."""
    txn = lab.reader(words.text("max-ts", "now"))
    start, end = key_range(words.next_or("[-inf,+inf)"))
    request = new_request(lab, words, Kind.SCAN_LOCK, txn, [start])
    request.keys = (start, end)
    request.rows = words.number("limit")
    return lab.ask(request, _show_scanned, words)


def _show_scanned(request: KvRequest) -> str:
    answer = request.result
    if not isinstance(answer, ScannedLocks):
        return show_answer(request)
    lines = [f"{show_key(key)}: {show_lock(lock)}" for key, lock in answer.locks]
    lines += ["and more"] if answer.has_remain else []
    return "\n".join(lines) or "no locks"


COMMANDS: Final = (
    Command("cleanup TXN KEY [current_ts=TS]", cleanup),
    Command("heartbeat TXN [PRIMARY] [ttl=MS]", heartbeat),
    Command(
        "check-txn-status TXN [PRIMARY] [caller_start_ts=TS] [current_ts=TS] "
        "[rollback-if-not-exist] [resolving-pessimistic-lock] [force-sync-commit]",
        check_txn_status,
    ),
    Command("check-secondary-locks TXN KEY…", check_secondary_locks),
    Command("resolve-lock TXN [KEY…] [commit_ts=TS]", resolve_lock),
    Command("get KEY… [ts=TS] [bypass=TS,…] [access=TS,…]", get),
    Command("scan [[START, END)] [ts=TS] [limit=N] [bypass=TS,…] [access=TS,…]", scan),
    Command("scan-locks [[START, END)] [max_ts=TS] [limit=N]", scan_locks),
)
