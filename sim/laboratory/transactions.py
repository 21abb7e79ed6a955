"""Commands of a transaction's life: begin, lock, prewrite, commit, rollback.

Each sends one request, as a client would, straight to a store.

Source: kvproto ``kvrpcpb.proto`` (fields and their meaning); tikv/client-go txnkv/transaction
(what a client fills in).
"""

from collections.abc import Sequence
from typing import Final

from sim.laboratory.answers import show_answer
from sim.laboratory.grammar import ScriptProblem
from sim.laboratory.laboratory import Command, Laboratory, Txn
from sim.laboratory.routing import new_request
from sim.laboratory.stores import replica_on
from sim.laboratory.values import key_of, show_timestamp
from sim.laboratory.words import Words, suggestion
from sim.protocol.percolator import Mutation, Prewritten, locks_of
from sim.protocol.records import DELETE, INSERT, LOCK_ONLY, PUT
from sim.storage.request import NO_WAIT, Kind, KvRequest
from sim.units import NS_PER_MS

PESSIMISTIC_TTL: Final = "20000"
"""TiDB's ``ManagedLockTTL`` in ms."""
PREWRITE_TTL: Final = "3000"

_OPS: Final = {"put": PUT, "delete": DELETE, "lock": LOCK_ONLY, "insert": INSERT}


def begin(lab: Laboratory, words: Words) -> str | None:
    """Begins a transaction at a timestamp of its own, or at a new one from PD."""
    name = words.next("the transaction's name")
    text = words.text("start-ts", "now")
    txn = lab.begin(name, lab.time(text))
    txn.for_update_ts = lab.time_option(words, "for-update-ts", txn.for_update_ts)
    return f"{name} start_ts={show_timestamp(txn.start_ts)}" if text == "now" else None


def lock(lab: Laboratory, words: Words) -> str:
    """Sends AcquirePessimisticLock."""
    txn = lab.txn(words.next("a transaction"))
    keys = words.keys()
    request = new_request(lab, words, Kind.LOCK, txn, keys)
    _note_keys(txn, keys, words.keys_option("primary"))
    txn.for_update_ts = lab.time_option(words, "for-update-ts", txn.for_update_ts)
    wait_ns = words.duration_ns("wait-timeout", "0")
    request.primary = txn.primary
    request.for_update_ts = txn.for_update_ts
    request.min_commit_ts = lab.time_option(words, "min-commit-ts", txn.for_update_ts + 1)
    request.lock_ttl_ms = words.duration_ns("ttl", PESSIMISTIC_TTL) // NS_PER_MS
    request.wait_timeout_ns = NO_WAIT if words.flag("no-wait") else wait_ns
    request.insert = words.flag("should-not-exist")
    request.allowed_on_almost_full = words.flag("allowed-on-almost-full")
    request.wants_values = words.flag("return-values")
    request.allow_lock_with_conflict = words.flag("allow-lock-with-conflict")
    if request.allow_lock_with_conflict and len(keys) > 1:
        raise ScriptProblem("allow-lock-with-conflict is for one key; lock the others on their own")
    return lab.ask(request, show_answer, words)


def _note_keys(txn: Txn, keys: Sequence[bytes], primary: Sequence[bytes] | None) -> None:
    """Adds keys to a transaction; its first is its primary, unless another is named."""
    if primary:
        txn.primary = primary[0]
    txn.primary = txn.primary or keys[0]
    txn.keys.update(dict.fromkeys(keys))


def prewrite(lab: Laboratory, words: Words) -> str:
    """Sends Prewrite: pessimistic unless the script says ``optimistic``."""
    txn = lab.txn(words.next("a transaction"))
    optimistic = words.flag("optimistic")
    unlocked = words.keys_option("skip-pessimistic-check", "unlocked") or ()
    mutations = _mutations(txn, words.rest(), words.size_bytes("bytes", 0), unlocked)
    request = _new_prewrite(lab, words, txn, mutations)
    keys = [mutation.key for mutation in mutations]
    _note_keys(txn, keys, words.keys_option("primary"))
    txn.for_update_ts = lab.time_option(words, "for-update-ts", txn.for_update_ts)
    request.primary = txn.primary
    request.pessimistic = not optimistic
    request.for_update_ts = 0 if optimistic else txn.for_update_ts
    request.min_commit_ts = lab.time_option(words, "min-commit-ts", 0)
    request.lock_ttl_ms = words.duration_ns("ttl", PREWRITE_TTL) // NS_PER_MS
    request.use_async_commit = words.flag("async-commit")
    request.one_pc = words.flag("one-pc")
    request.is_retry = words.flag("retry")
    request.max_commit_ts = lab.time(words.text("max-commit-ts", "0"))
    expected = words.keys_option("expected-for-update-ts") or ()
    request.expected_for_update_ts = dict(_key_and_ts(lab, word) for word in expected)
    secondaries = words.keys_option("secondaries")
    if request.use_async_commit and txn.primary in keys:
        others = tuple(key for key in txn.keys if key != txn.primary)
        request.secondaries = others if secondaries is None else secondaries
    return lab.ask(request, lambda done: _prewritten(txn, done), words)


def put(lab: Laboratory, words: Words) -> str:
    """Writes one key in a transaction of its own, committed in one phase."""
    key, value = key_of(words.next("a key")), words.next_or("v")
    txn = lab.begin("put", lab.time(words.text("start-ts", "now")))
    value_bytes = words.size_bytes("bytes", 0) or len(value)
    request = _new_prewrite(lab, words, txn, [Mutation(key, PUT, value_bytes, value)])
    request.primary = key
    request.pessimistic = False
    request.one_pc = True
    request.lock_ttl_ms = int(PREWRITE_TTL)
    return lab.ask(request, show_answer, words)


def _new_prewrite(
    lab: Laboratory, words: Words, txn: Txn, mutations: Sequence[Mutation]
) -> KvRequest:
    """Returns a prewrite, which names its keys in its mutations only."""
    keys = [mutation.key for mutation in mutations]
    request = new_request(lab, words, Kind.PREWRITE, txn, keys)
    request.keys = ()
    request.mutations = tuple(mutations)
    request.allowed_on_almost_full = words.flag("allowed-on-almost-full")
    return request


def _key_and_ts(lab: Laboratory, word: bytes) -> tuple[bytes, int]:
    """Returns what ``k1:20`` means."""
    key, colon, ts = word.rpartition(b":")
    if not colon:
        text = word.decode("latin-1")
        raise ScriptProblem(f"at which timestamp? write expected-for-update-ts={text}:20")
    return key, lab.time(ts.decode("latin-1"))


def _prewritten(txn: Txn, request: KvRequest) -> str:
    """Notes how the transaction may be committed, for a ``commit`` without a timestamp."""
    answer = request.result
    if isinstance(answer, Prewritten):
        txn.min_commit_ts = max(txn.min_commit_ts, answer.min_commit_ts)
        txn.commit_ts = answer.one_pc_commit_ts
    return show_answer(request)


def _mutations(
    txn: Txn, words: Sequence[str], value_bytes: int, unlocked: Sequence[bytes]
) -> list[Mutation]:
    """Returns what ``put:k=v``, ``delete:k``, ``lock:k``, ``insert:k=v`` and ``k`` mean.

    Without any word, every key that the transaction has locked is put.

    Raises:
        ScriptProblem: if there is nothing to write, or a word is none of these.
    """
    if not words:
        words = [f"put:{key.decode('latin-1')}" for key in txn.keys]
    if not words:
        raise ScriptProblem("nothing to prewrite; name keys, as in put:k1=v1, or lock some before")
    return [_mutation(txn, word, value_bytes, unlocked) for word in words]


def _mutation(txn: Txn, word: str, value_bytes: int, unlocked: Sequence[bytes]) -> Mutation:
    op_name, colon, rest = word.partition(":")
    if not colon:
        op_name, rest = "put", word
    if op_name.lower() not in _OPS:
        hint = suggestion(op_name, list(_OPS), "put:k1=v1, delete:k1, lock:k1 or insert:k1=v1")
        raise ScriptProblem(f"no mutation {op_name!r}; {hint}")
    name, equals, value = rest.partition("=")
    op, key = _OPS[op_name.lower()], key_of(name)
    checked = key not in unlocked
    if op not in {PUT, INSERT}:
        if equals:
            raise ScriptProblem(f"{op_name} has no value; write {op_name}:{name}")
        return Mutation(key, op, pessimistic_check=checked)
    text = value if equals else txn.name
    return Mutation(key, op, value_bytes or len(text), text, checked)


def commit(lab: Laboratory, words: Words) -> str:
    """Sends Commit."""
    txn = lab.txn(words.next("a transaction"))
    asked_ts = words.text("commit-ts", "at", "")
    keys = words.keys(at_least=0) or tuple(txn.keys)
    request = new_request(lab, words, Kind.COMMIT, txn, keys)
    if asked_ts:
        txn.commit_ts = lab.time(asked_ts)
    txn.commit_ts = txn.commit_ts or txn.min_commit_ts or lab.next_ts()
    request.primary = txn.primary
    request.commit_ts = txn.commit_ts
    return lab.ask(request, show_answer, words)


def pessimistic_rollback(lab: Laboratory, words: Words) -> str:
    """Sends PessimisticRollback; with ``scan``, for what the region holds of the transaction."""
    txn = lab.txn(words.next("a transaction"))
    keys = words.keys(at_least=0) or tuple(txn.keys)
    request = new_request(lab, words, Kind.PESSIMISTIC_ROLLBACK, txn, keys)
    request.for_update_ts = lab.time_option(words, "for-update-ts", txn.for_update_ts)
    peer = replica_on(lab.cluster, request.store, request.region.region_id)
    if words.flag("scan") and peer is not None:
        request.keys = tuple(locks_of(peer.state.mvcc, peer.locks, txn.start_ts))
    return lab.ask(request, show_answer, words)


def rollback(lab: Laboratory, words: Words) -> str:
    """Sends BatchRollback."""
    txn = lab.txn(words.next("a transaction"))
    keys = words.keys(at_least=0) or tuple(txn.keys)
    return lab.ask(new_request(lab, words, Kind.ROLLBACK, txn, keys), show_answer, words)


COMMANDS: Final = (
    Command("begin TXN [start_ts=TS] [for_update_ts=TS]", begin),
    Command(
        "lock TXN KEY… [for_update_ts=TS] [primary=KEY] [ttl=MS] [min_commit_ts=TS] "
        "[wait_timeout=TIME] [no-wait] [return-values] [should-not-exist] "
        "[allow-lock-with-conflict] [allowed-on-almost-full]",
        lock,
    ),
    Command(
        "prewrite TXN [put:KEY=VALUE | delete:KEY | lock:KEY | insert:KEY=VALUE | KEY]… "
        "[for_update_ts=TS] [primary=KEY] [ttl=MS] [min_commit_ts=TS] [optimistic] "
        "[async-commit] [secondaries=KEY,…] [one-pc] [skip-pessimistic-check=KEY,…] [retry] "
        "[max_commit_ts=TS] [expected-for-update-ts=KEY:TS,…] "
        "[bytes=SIZE] [allowed-on-almost-full]",
        prewrite,
    ),
    Command("commit TXN [KEY…] [commit_ts=TS]", commit),
    Command("pessimistic-rollback TXN [KEY…] [for_update_ts=TS] [scan]", pessimistic_rollback),
    Command("rollback TXN [KEY…]", rollback),
    Command("put KEY [VALUE] [bytes=SIZE] [start_ts=TS] [allowed-on-almost-full]", put),
)
