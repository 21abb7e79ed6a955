"""``init``: a scenario from what was measured, ready to run.

The scenario goes to the file, or to standard output; the report goes to standard output if the
scenario does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from analysis.calibration.disk_fit import fits
from analysis.calibration.disk_profile import read_disks
from analysis.calibration.disk_report import advice, fit_document, largest_error, remarks
from analysis.calibration.first_scenario import MeasuredCluster, first_scenario
from analysis.calibration.network_file import read_networks
from analysis.calibration.network_profile import network_of
from analysis.calibration.tikv_profile import read_tikv
from analysis.cli.calibrate_command import say_lines
from analysis.cli.failures import CommandError, ExitStatus
from analysis.cli.measurement_app import InitCommand
from analysis.cli.new_files import write_new
from analysis.terminal.console import messages, output, print_json, say
from sim.scenario.fields import LOAD, Wrong


def init_command(request: InitCommand) -> int:
    """Returns the exit status; one line says what cannot be used."""
    if not request.files:
        message = "init: no measurements; give --fio, --ping or --tikv, or several of them"
        raise CommandError(message)
    if request.prometheus and not request.tikv:
        metrics = request.prometheus[0]
        raise CommandError(f"{metrics}: metrics need the cluster's tikv.toml; add --tikv")
    measured, document, lines = _measured(request)
    _hand_over(request, first_scenario(measured), document, lines)
    return ExitStatus.FINE


def _measured(request: InitCommand) -> tuple[MeasuredCluster, dict[str, Any], list[str]]:
    """Returns what the files say: for the scenario, as plain data, and in lines."""
    fio = request.fio or ()
    runs, disks = read_disks(fio, request.name, request.machine) if fio else ([], [])
    network = network_of(read_networks(request.ping), request.name) if request.ping else None
    tikv = read_tikv(request.tikv, request.prometheus or ()) if request.tikv else None
    document: dict[str, Any] = {}
    lines: list[str] = []
    if disks:
        found = fits(disks)
        document["disk"] = fit_document(disks, found) | {
            "remarks": [*advice(found), *remarks(disks, runs)]
        }
        lines += [largest_error(found), *document["disk"]["remarks"]]
    if network is not None:
        document["network"] = network.document
        lines += network.lines
    if tikv is not None:
        document["tikv"] = tikv.document
        lines += [*tikv.read, *tikv.costs]
        if tikv.not_modelled:
            lines.append(
                "the scenario says what each key that is not modelled means for the answer"
            )
    try:
        rate = None if request.rate is None else float(LOAD.parse(request.rate))
    except Wrong as error:
        raise CommandError(f"--rate: {error}") from None
    measured = MeasuredCluster(
        disks=disks, network=network, tikv=tikv, machine=request.machine, rate=rate
    )
    return measured, document, lines


def _hand_over(request: InitCommand, text: str, document: dict[str, Any], lines: list[str]) -> None:
    """Writes the scenario, or prints it, and reports."""
    kept: list[Path] = []
    if request.out is not None:
        kept = write_new({request.out: text}, given=request.files, replace=request.force)
    if request.as_json:
        file = None if request.out is None else str(request.out)
        kept_as = [str(path) for path in kept]
        print_json(document | {"scenario": text, "file": file, "kept": kept_as})
        return
    if request.out is None:
        say(output(), text.rstrip("\n"))
    say_lines(output() if request.out is not None else messages(), [*lines, *_end(request, kept)])


def _end(request: InitCommand, kept: list[Path]) -> Iterator[str]:
    yield from (f"kept: {path}" for path in kept)
    if request.out is not None:
        yield f"written: {request.out}"
        yield "Replace values marked ASSUMED where you know better, then check and run it."
