"""A region that data-driven files and unit tests talk to: one Mvcc, one table, no raft, no time.

A command's batch is applied at once, as if proposed, committed and applied; the table in memory is
handled as TiKV's scheduler does: marked when the batch is proposed, removed when it is applied.
Timestamps below 2**18 are plain numbers (their physical part is 0 ms); ``7ms`` is a timestamp of
the seventh millisecond.
"""

from collections.abc import Callable

from sim.protocol import percolator
from sim.protocol.encoding import LockFormat, lock_format
from sim.protocol.lock_table import InstanceMemory, PeerPessimisticLocks
from sim.protocol.mvcc import DELETE, INSERT, KIND_NAMES, LOCK, PUT, Lock, Mvcc, Write
from sim.protocol.percolator import Mutation, MvccError
from sim.protocol.timestamp import compose_ts, logical_part, physical_ms
from sim.protocol.write_batch import WriteBatch
from tests.datadriven import Command

OPS = {"put": PUT, "del": DELETE, "insert": INSERT, "lock": LOCK}


class ScriptedRegion:
    """Runs percolator commands, one after the other, and prints the state they leave."""

    def __init__(self, records: LockFormat | None = None) -> None:
        self._records = records or lock_format((8, 5, 0))
        self._begin()

    def _begin(self) -> None:
        self.mvcc = Mvcc(self._records, keep_rows=True)
        self.memory = PeerPessimisticLocks(InstanceMemory())

    def execute(self, command: Command) -> str:
        """Runs one line of a file."""
        run: Callable[[Command], str] = getattr(self, f"do_{command.name}")
        return run(command)

    def apply(self, batch: WriteBatch) -> None:
        """Proposes and applies a batch."""
        marked = self.memory.mark_replaced(batch)
        self.mvcc.apply(batch)
        self.memory.remove(marked)

    def do_acquire(self, command: Command) -> str:
        """acquire KEY... txn= [fut=] [primary=] [ttl=] [insert=1] [fair=1] [to=memory|cf]"""
        keys = _keys(command)
        start_ts = _ts(command, "txn")
        for_update_ts = _ts(command, "fut", start_ts)
        result = percolator.acquire_pessimistic_lock(
            self.mvcc,
            self.memory,
            keys,
            primary=command.options.get("primary", command.words[0]).encode(),
            start_ts=start_ts,
            for_update_ts=for_update_ts,
            ttl_ms=command.number("ttl", 3000),
            min_commit_ts=for_update_ts + 1,
            should_not_exist="insert" in command.options,
            allow_lock_with_conflict="fair" in command.options,
        )
        if isinstance(result, MvccError):
            return _refusal(result)
        if command.options.get("to", "memory") == "cf":
            self.apply(percolator.lock_batch(result.locks))
        else:
            assert self.memory.insert(result.locks)
        words = [f"locked {len(result.locks)} values={result.values}"]
        if result.locked_with_conflict_ts:
            words.append(f"locked_with_conflict_ts={result.locked_with_conflict_ts}")
        return self._show(" ".join(words))

    def do_prewrite(self, command: Command) -> str:
        """prewrite put:KEY=.. as put:k,5 ... txn= [fut=] [async=k2,k3] [one_pc=1] [max_ts=]"""
        start_ts = _ts(command, "txn")
        options = command.options
        primary = options.get("primary", command.words[0].split(":")[1].split(",")[0]).encode()
        secondaries = options.get("async")
        result = percolator.prewrite(
            self.mvcc,
            self.memory,
            [_mutation(word) for word in command.words],
            primary=primary,
            start_ts=start_ts,
            for_update_ts=0 if "optimistic" in options else _ts(command, "fut", start_ts),
            ttl_ms=command.number("ttl", 3000),
            async_commit_secondaries=_secondaries(secondaries),
            use_async_commit=secondaries is not None,
            one_pc_commit_ts=command.number("one_pc") if "one_pc" in options else None,
            min_commit_ts=start_ts + 1,
            max_ts=command.number("max_ts"),
            max_commit_ts=command.number("max_commit_ts"),
            pessimistic="optimistic" not in options,
            is_retry="retry" in options,
        )
        if isinstance(result, MvccError):
            return _refusal(result)
        self.apply(result.batch)
        words = [f"prewritten {len(result.batch.lock_puts)}"]
        said = {
            "min_commit_ts": result.min_commit_ts,
            "one_pc_commit_ts": result.one_pc_commit_ts,
            "amended": len(result.amended),
        }
        words += [f"{name}={value}" for name, value in said.items() if value]
        return self._show(" ".join(words))

    def do_commit(self, command: Command) -> str:
        """commit KEY... txn= at="""
        result = percolator.commit(
            self.mvcc,
            self.memory,
            _keys(command),
            start_ts=_ts(command, "txn"),
            commit_ts=_ts(command, "at"),
        )
        return self._finish(result, "committed")

    def do_pessimistic_rollback(self, command: Command) -> str:
        """pessimistic_rollback KEY... txn= [fut=]"""
        start_ts = _ts(command, "txn")
        result = percolator.pessimistic_rollback(
            self.mvcc, self.memory, _keys(command), start_ts, _ts(command, "fut", start_ts)
        )
        return self._finish(result, "rolled back")

    def do_rollback(self, command: Command) -> str:
        """rollback KEY... txn="""
        keys, start_ts = _keys(command), _ts(command, "txn")
        result = percolator.rollback(self.mvcc, self.memory, keys, start_ts)
        return self._finish(result, "rolled back")

    def do_cleanup(self, command: Command) -> str:
        """cleanup KEY txn= [now=]"""
        result = percolator.cleanup(
            self.mvcc, self.memory, _keys(command)[0], _ts(command, "txn"), _ts(command, "now", 0)
        )
        return self._finish(result, "rolled back")

    def do_heartbeat(self, command: Command) -> str:
        """heartbeat KEY txn= ttl="""
        start_ts, ttl_ms = _ts(command, "txn"), command.number("ttl")
        beat = percolator.txn_heart_beat(
            self.mvcc, self.memory, _keys(command)[0], start_ts, ttl_ms
        )
        return self._finish(beat, f"ttl {getattr(beat, 'ttl_ms', None)}")

    def do_check_txn_status(self, command: Command) -> str:
        """check_txn_status KEY txn= caller= now= [rollback=1] [sync=1] [pessimistic=1]"""
        status = percolator.check_txn_status(
            self.mvcc,
            self.memory,
            _keys(command)[0],
            start_ts=_ts(command, "txn"),
            caller_start_ts=_ts(command, "caller", 0),
            current_ts=_ts(command, "now", 0),
            rollback_if_not_exist="rollback" in command.options,
            force_sync_commit="sync" in command.options,
            resolving_pessimistic_lock="pessimistic" in command.options,
        )
        if isinstance(status, MvccError):
            return _refusal(status)
        commit_ts = f" at {show_ts(status.commit_ts)}" if status.commit_ts else ""
        return self._finish(status, status.action.value + commit_ts)

    def do_resolve_lock(self, command: Command) -> str:
        """resolve_lock KEY... txn= [at=]"""
        result = percolator.resolve_lock(
            self.mvcc,
            self.memory,
            _keys(command),
            start_ts=_ts(command, "txn"),
            commit_ts=_ts(command, "at", 0),
        )
        return self._finish(result, "resolved")

    def do_check_secondary_locks(self, command: Command) -> str:
        """check_secondary_locks KEY... txn="""
        found = percolator.check_secondary_locks(
            self.mvcc, self.memory, _keys(command), _ts(command, "txn")
        )
        state = "rolled back" if found.rolled_back else f"locks {len(found.locks)}"
        return self._finish(found, f"committed at {found.commit_ts}" if found.commit_ts else state)

    def do_get(self, command: Command) -> str:
        """get KEY at="""
        key, read_ts = _keys(command)[0], _ts(command, "at")
        refusal = percolator.lock_blocking_keys(self.mvcc, {}, [key], read_ts)
        if refusal is not None:
            return _refusal(refusal)
        found = percolator.visible_version(self.mvcc, key, read_ts)
        return "nothing" if found is None else f"{found.value} (committed at {found.commit_ts})"

    def do_lose_memory(self, command: Command) -> str:
        """lose_memory: the leader crashed, or stepped down"""
        del command
        self.memory.clear()
        return self._show("lost")

    def do_new_region(self, command: Command) -> str:
        """new_region: forget everything"""
        del command
        self._begin()
        return ""

    def do_gc(self, command: Command) -> str:
        """gc safe="""
        self.mvcc.collect_garbage(command.number("safe"))
        return self._show("collected")

    def _finish(self, result: object, words: str) -> str:
        if isinstance(result, MvccError):
            return _refusal(result)
        batch: WriteBatch = result.batch  # type: ignore[attr-defined]
        self.apply(batch)
        return self._show(words)

    def _show(self, first: str) -> str:
        mvcc, table = self.mvcc, self.memory.map
        keys = sorted({**dict.fromkeys(mvcc.locks), **dict.fromkeys(mvcc.writes), **table})
        return "\n".join([first, *(self._show_key(key) for key in keys)])

    def _show_key(self, key: bytes) -> str:
        parts = []
        if key in self.memory.map:
            parts.append(f"memory {describe(self.memory.map[key])}")
        if key in self.mvcc.locks:
            parts.append(f"cf {describe(self.mvcc.locks[key])}")
        write = self.mvcc.writes.get(key)
        while write is not None:
            parts.append(describe_write(write))
            write = write.prev
        return f"  {key.decode()}: " + "; ".join(parts)


def show_ts(ts: int) -> str:
    """Returns a timestamp as the files write it."""
    milliseconds, logical = physical_ms(ts), logical_part(ts)
    if not milliseconds:
        return str(ts)
    return f"{milliseconds}ms+{logical}" if logical else f"{milliseconds}ms"


def describe(lock: Lock) -> str:
    """Returns a lock as the files show it."""
    words = f"{KIND_NAMES[lock.kind]} {show_ts(lock.start_ts)} fut={show_ts(lock.for_update_ts)}"
    words += f" min_commit={show_ts(lock.min_commit_ts)} ttl={lock.ttl_ms}"
    if lock.use_async_commit:
        others = [] if lock.secondaries is None else [key.decode() for key in lock.secondaries]
        words += f" async{others or ''}"
    return words


def describe_write(write: Write) -> str:
    """Returns a version as the files show it."""
    mark = "+rollback" if write.has_overlapped_rollback else ""
    value = "" if write.value is None else f"={write.value}"
    kind, start_ts = KIND_NAMES[write.kind], show_ts(write.start_ts)
    return f"{kind}{value} {start_ts}->{show_ts(write.commit_ts)}{mark}"


def _refusal(error: MvccError) -> str:
    words = []
    for name in error.__match_args__:  # type: ignore[attr-defined]
        value = getattr(error, name)
        if isinstance(value, Lock):
            value = describe(value)
        elif name.endswith("_ts"):
            value = show_ts(value)
        value = value.decode() if isinstance(value, bytes) else getattr(value, "value", value)
        words.append(f"{name}={value}")
    return f"{type(error).__name__}({', '.join(words)})"


def _keys(command: Command) -> tuple[bytes, ...]:
    return tuple(word.encode() for word in command.words)


def _ts(command: Command, option: str, default: int | None = None) -> int:
    text = command.options.get(option)
    if text is None:
        assert default is not None, f"{command.name} needs {option}="
        return default
    return compose_ts(int(text[:-2])) if text.endswith("ms") else int(text)


def _mutation(word: str) -> Mutation:
    op, _, rest = word.partition(":")
    key, _, value = rest.partition(",")
    check = not op.startswith("index_")
    kind = OPS[op.removeprefix("index_")]
    if not value:
        return Mutation(key.encode(), kind, pessimistic_check=check)
    return Mutation(key.encode(), kind, len(value), value, pessimistic_check=check)


def _secondaries(option: str | None) -> tuple[bytes, ...] | None:
    return tuple(key.encode() for key in option.split(",")) if option else None
