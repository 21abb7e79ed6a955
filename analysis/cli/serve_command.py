"""``serve``: studies as pages of a server on this machine."""

from __future__ import annotations

from pathlib import Path

from analysis.cli.console import output, say
from analysis.cli.exit_status import ExitStatus
from analysis.cli.failures import CommandError
from analysis.serve.server import PortTakenError, serve


def serve_command(results: Path, port: int) -> int:
    """Serves a folder of studies until it is interrupted; returns the exit status."""
    if results.exists() and not results.is_dir():
        raise CommandError(f"{results}: is a file; name the folder that studies lie in")
    try:
        serve(results, port, lambda address: say(output(), f"{address}  (Ctrl-C ends it)"))
    except PortTakenError as error:
        raise CommandError(str(error)) from error
    return ExitStatus.FINE
