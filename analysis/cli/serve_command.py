"""``serve``: studies as pages of a server on this machine."""

from __future__ import annotations

from pathlib import Path

from analysis.cli.console import messages, output, say
from analysis.cli.exit_status import ExitStatus
from analysis.serve.server import PortTakenError, serve


def serve_command(results: Path, port: int) -> int:
    """Serves a folder of studies until it is interrupted; returns the exit status."""
    if results.exists() and not results.is_dir():
        say(messages(), f"{results}: is a file; name the folder of your studies")
        return ExitStatus.BAD_INPUT
    try:
        serve(results, port, _tell)
    except PortTakenError as error:
        say(messages(), str(error))
        return ExitStatus.BAD_INPUT
    return ExitStatus.FINE


def _tell(address: str) -> None:
    say(output(), f"{address}  (Ctrl-C stops it)")
