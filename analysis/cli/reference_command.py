"""``reference``: every key, operation, metric and profile, as the schema describes them."""

from __future__ import annotations

from difflib import get_close_matches

from analysis.cli.console import messages, say
from analysis.cli.exit_status import ExitStatus
from analysis.report.reference import NotInReferenceError, names, reference_text


def reference_command(word: str) -> int:
    """Prints the reference, or what has ``word`` in its name; returns the exit status."""
    try:
        text = reference_text(word)
    except NotInReferenceError as error:
        parts = dict.fromkeys(part for name in names() for part in (name, *name.split(".")))
        meant = get_close_matches(word, parts, n=1)
        remedy = f"did you mean {meant[0]}?" if meant else "docs/REFERENCE.md has everything"
        say(messages(), f"{error}; {remedy}")
        return ExitStatus.BAD_INPUT
    print(text, end="")  # noqa: T201 - the output is the product
    return ExitStatus.FINE
