"""The table of commands, by group; and how one line is carried out.

Law: this table is the grammar: docs/SCRIPTS.md is held to it by a test, and a name that is not here
is answered with the nearest one that is.
"""

from __future__ import annotations

from typing import Final

from sim.laboratory.bench_table import CLUSTER, LOOKING, WAITING
from sim.laboratory.command import Command
from sim.laboratory.grammar import Line
from sim.laboratory.laboratory import Laboratory
from sim.laboratory.problems import ScriptProblem
from sim.laboratory.region_table import REGIONS
from sim.laboratory.request_table import TRANSACTIONS
from sim.laboratory.words import Words, plain, suggestion

COMMANDS: Final[dict[str, Command]] = CLUSTER | TRANSACTIONS | REGIONS | WAITING | LOOKING

ALIASES: Final = {
    "acquire": "lock",
    "pessimistic-lock": "lock",
    "acquire-pessimistic-lock": "lock",
    "batch-get": "get",
    "txn-heart-beat": "heartbeat",
    "batch-rollback": "rollback",
    "scan-lock": "scan-locks",
    "table": "tables",
    "write": "writes",
    "sleep": "advance",
    "split": "split-region",
    "merge": "merge-region",
    "move-leader": "transfer-leader",
    "kill": "crash",
    "pause": "hold",
    "resume": "release",
}
"""Other names; ``show locks`` is ``locks``."""


def execute(lab: Laboratory, line: Line) -> str:
    """Carries out one command and returns what it prints.

    Raises:
        ScriptProblem: with its line, if the command cannot be understood or carried out.
    """
    name, words = plain(line.name), line.words
    if name == "show" and words:
        name, words = plain(words[0]), words[1:]
    name = ALIASES.get(name, name)
    command = COMMANDS.get(name)
    if command is None:
        mend = suggestion(name, [*COMMANDS, *ALIASES], "a command of docs/SCRIPTS.md")
        raise ScriptProblem(f"no command {line.name}; {mend}", line.number)
    try:
        return command.run(lab, Words(words, command.usage))
    except ScriptProblem as problem:
        raise problem.at(line.number) from None
