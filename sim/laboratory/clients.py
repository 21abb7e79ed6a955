"""Whole transactions of a client: TiDB's session, with its retries, backoffs and background work.

What a session does is the client's business; the laboratory gives it the statements and prints how
its transaction ended.
"""

from collections.abc import Generator, Sequence
from typing import Any, Final

from sim.engine import Wait
from sim.laboratory.grammar import ScriptProblem
from sim.laboratory.jobs import Job
from sim.laboratory.laboratory import Command, Laboratory
from sim.laboratory.values import duration_ns, key_of
from sim.laboratory.words import Words, suggestion
from sim.protocol.percolator import Mutation
from sim.protocol.records import PUT
from sim.workload.statement import ROLLBACK, Read, ReadKind, Script, Statement

_VERBS = ("update", "insert", "lock", "write", "read", "sleep", "rollback")


def client(lab: Laboratory, words: Words) -> str:
    """Starts a client with TiDB's retries, which carries out a whole transaction."""
    autocommit = words.flag("autocommit")
    name = words.as_name or f"client{lab.clients + 1}"
    statements = _statements(words.rest(), name)
    if autocommit and len(statements) != 1:
        raise ScriptProblem("autocommit is for one statement; leave it, or the others")
    model = lab.model
    if not lab.clients:
        model.env.process(model.session.ttl_manager.run())
    lab.clients += 1
    transaction, outcome = Script(name, statements, autocommit=autocommit), list[str]()

    def run() -> Generator[Wait, Any, None]:
        outcome.append((yield from model.session.run(transaction, model.env.now_ns)))

    model.env.process(run())
    return lab.finish_within(Job(lambda: bool(outcome), lambda: outcome[0]), words, "60s")


def _statements(words: Sequence[str], name: str) -> list[Statement]:
    """Returns the statements between the semicolons.

    Raises:
        ScriptProblem: if one of them is none.
    """
    parts: list[list[str]] = [[]]
    for word in words:
        text, semicolon, _ = word.partition(";")
        parts[-1] += [text] if text else []
        if semicolon:
            parts.append([])
    statements: list[Statement] = []
    pause_ns = 0
    for part in filter(None, parts):
        if part[0] == "sleep":
            pause_ns += duration_ns(part[1] if len(part) > 1 else "")
            continue
        statement = _statement(part[0].lower(), [key_of(word) for word in part[1:]], name)
        if statement is not ROLLBACK:
            statement.pause_ns, pause_ns = pause_ns, 0
        statements.append(statement)
    if not statements:
        raise ScriptProblem("which statements? write client update k1 ; update k2")
    return statements


def _statement(verb: str, keys: list[bytes], name: str) -> Statement:
    if verb == "rollback":
        return ROLLBACK
    if verb not in _VERBS:
        hint = suggestion(verb, list(_VERBS), ", ".join(_VERBS))
        raise ScriptProblem(f"no statement {verb}; {hint}")
    if not keys:
        raise ScriptProblem(f"{verb} of which keys? write {verb} k1")
    wanted = tuple(keys)
    writes = tuple(Mutation(key, PUT, len(name), name) for key in keys)
    if verb == "read":
        kind = ReadKind.GET if len(keys) == 1 else ReadKind.BATCH_GET
        return Statement(verb, (Read(kind, wanted, len(keys)),))
    if verb == "write":
        unlocked = tuple(write._replace(pessimistic_check=False) for write in writes)
        return Statement(verb, (), (), unlocked)
    return Statement(
        verb,
        (),
        wanted,
        () if verb == "lock" else writes,
        insert=verb == "insert",
        fresh_ts=True,
    )


COMMANDS: Final = (
    Command(
        "client STATEMENT KEY… [; STATEMENT KEY…]… [autocommit] [within=60s] [as NAME]", client
    ),
)
