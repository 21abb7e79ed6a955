"""``init``: a scenario from what was measured, ready to run.

The scenario goes to the file, or to standard output; the report goes to standard output if the
scenario does not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.calibration.refusal import CalibrationError
from analysis.cli.calibrate_command import not_written, say_lines
from analysis.cli.console import messages, output, say
from analysis.cli.exit_status import ExitStatus
from analysis.cli.new_files import ExistsError, write_new
from sim.scenario.quantities import RATE, QuantityError

if TYPE_CHECKING:
    from analysis.calibration.first_scenario import MeasuredCluster


@dataclass(frozen=True, slots=True, kw_only=True)
class InitRequest:
    """What the command line asks for.

    Attributes:
        fio: runs of fio on the disk of the raft log.
        network: output of ping, sockperf or iperf3.
        tikv: a ``tikv.toml``.
        prometheus: range queries of TiKV's stages.
        machine: the profile that gives what was not measured; None: the usual one.
        rate: transactions a second at present, as a scenario writes them.
        name: of disk and network.
        out: where the scenario is written; standard output if None.
        replace: put an existing file aside and write in its place.
        as_json: print the report as JSON.
    """

    fio: tuple[Path, ...] = ()
    network: tuple[Path, ...] = ()
    tikv: Path | None = None
    prometheus: tuple[Path, ...] = ()
    machine: str | None = None
    rate: str | None = None
    name: str = "own"
    out: Path | None = None
    replace: bool = False
    as_json: bool = False

    @property
    def files(self) -> tuple[Path, ...]:
        """All that is read."""
        toml = () if self.tikv is None else (self.tikv,)
        return (*self.fio, *self.network, *toml, *self.prometheus)


def init_command(request: InitRequest) -> int:
    """Returns the exit status; one line says what cannot be used."""
    from analysis.calibration.first_scenario import first_scenario

    problem = _problem(request)
    if problem:
        say(messages(), problem)
        return ExitStatus.BAD_INPUT
    try:
        measured, document, lines = _measured(request)
        text = first_scenario(measured)
        _hand_over(request, text, document, lines)
    except (CalibrationError, ExistsError) as error:
        say(messages(), str(error))
    except OSError as error:
        say(messages(), not_written(error))
    else:
        return ExitStatus.FINE
    return ExitStatus.BAD_INPUT


def _problem(request: InitRequest) -> str:
    """Returns what is wrong with the words of the command; empty: nothing."""
    if not request.files:
        return "init: no measurements; give --fio, --ping or --tikv, or several of them"
    if request.prometheus and request.tikv is None:
        return f"{request.prometheus[0]}: metrics need the cluster's tikv.toml; add --tikv"
    if request.rate is not None:
        try:
            RATE.parse(request.rate)
        except QuantityError as error:
            return f"--rate: {error}"
    return ""


def _measured(request: InitRequest) -> tuple[MeasuredCluster, dict[str, Any], list[str]]:
    """Returns what the files say: for the scenario, as plain data, and in lines."""
    from analysis.calibration.disk_fit import fits
    from analysis.calibration.disk_report import advice, fit_document, largest_error, remarks
    from analysis.calibration.first_scenario import MeasuredCluster
    from analysis.calibration.read_files import read_disks, read_network_files, read_tikv

    runs, disks = read_disks(request.fio, request.name) if request.fio else ([], [])
    network = read_network_files(request.network, request.name) if request.network else None
    tikv = None if request.tikv is None else read_tikv(request.tikv, request.prometheus)
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
    rate = None if request.rate is None else float(RATE.parse(request.rate))
    measured = MeasuredCluster(
        disks=disks, network=network, tikv=tikv, machine=request.machine, rate=rate
    )
    return measured, document, lines


def _hand_over(request: InitRequest, text: str, document: dict[str, Any], lines: list[str]) -> None:
    """Writes the scenario, or prints it, and reports."""
    kept: list[Path] = []
    if request.out is not None:
        kept = write_new({request.out: text}, given=request.files, replace=request.replace)
    if request.as_json:
        file = None if request.out is None else str(request.out)
        document |= {"scenario": text, "file": file, "kept": [str(path) for path in kept]}
        say(output(), json.dumps(document, indent=1))
        return
    if request.out is None:
        say(output(), text.rstrip("\n"))
    say_lines(output() if request.out is not None else messages(), [*lines, *_end(request, kept)])


def _end(request: InitRequest, kept: list[Path]) -> Iterator[str]:
    yield from (f"kept: {path}" for path in kept)
    if request.out is not None:
        yield f"written: {request.out}"
        yield "Replace values marked ASSUMED where you know better, then check and run it."
