"""``calibrate``: measurements of a disk, a network or a TiKV as what a scenario can say.

The profile goes to the file, or to standard output; the report goes to standard output if the
profile does not. Status 1: the model does not say what was measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import TextWrapper
from typing import Any, Final

from rich.console import Console

from analysis.calibration.disk_fit import fits, predictions
from analysis.calibration.disk_profile import read_disks
from analysis.calibration.disk_report import (
    advice,
    blind_lines,
    fit_document,
    fit_lines,
    remarks,
)
from analysis.calibration.network_file import read_networks
from analysis.calibration.network_profile import network_of
from analysis.calibration.profile_text import yaml_of
from analysis.calibration.tikv_profile import read_tikv
from analysis.cli.failures import ExitStatus
from analysis.cli.measurement_app import CalibrateCommand
from analysis.cli.new_files import write_new
from analysis.terminal.console import messages, output, print_json, say

_COLUMNS: Final = 80


def calibrate_command(request: CalibrateCommand) -> int:
    """Returns the exit status; one line says what cannot be used."""
    return {"disk": _disk, "network": _network, "tikv": _tikv}[request.kind](request)


def _disk(request: CalibrateCommand) -> int:
    runs, profiles = read_disks(request.files, request.name)
    found = fits(profiles)
    blind = list(predictions(profiles[0]))
    written = _write(request, {each.name: yaml_of(each) for each in profiles})
    if request.plot is not None:
        from analysis.calibration.disk_plot import draw_fits  # matplotlib takes half a second

        written += draw_fits(found, request.plot)
    doubts = [*advice(found), *remarks(profiles, runs)]
    document = fit_document(profiles, found) | {"remarks": doubts}
    _tell(request, document, [*fit_lines(found), *blind_lines(blind), "", *doubts], written)
    return ExitStatus.FINE if all(fit.holds for fit in found) else ExitStatus.CLAIM_FAILED


def _network(request: CalibrateCommand) -> int:
    network = network_of(read_networks(request.files), request.name)
    written = _write(request, {request.name: network.text})
    _tell(request, network.document, list(network.lines), written)
    return ExitStatus.FINE


def _tikv(request: CalibrateCommand) -> int:
    tikv = read_tikv(request.files, request.prometheus or ())
    written = _write(request, {request.name: tikv.text})
    _tell(request, tikv.document, list(tikv.lines), written)
    return ExitStatus.FINE


def _write(request: CalibrateCommand, texts: dict[str, str]) -> list[Path]:
    """Writes profiles: the first under the given name, others beside it; returns where."""
    if request.out is None:
        if not request.as_json:
            say(output(), "".join(texts.values()).rstrip("\n"))
        return []
    out = request.out
    endings = [name.removeprefix(request.name) if place else "" for place, name in enumerate(texts)]
    paths = [out.with_name(f"{out.stem}{ending}{out.suffix}") for ending in endings]
    given = (*request.files, *(request.prometheus or ()))
    for kept in write_new(
        dict(zip(paths, texts.values(), strict=True)), given=given, replace=request.force
    ):
        say(messages(), f"kept: {kept}")
    return paths


def _tell(
    request: CalibrateCommand,
    document: dict[str, Any],
    lines: Sequence[str],
    written: Sequence[Path],
) -> None:
    if request.as_json:
        print_json(document | {"files": [str(path) for path in written]})
        return
    console = output() if request.out is not None else messages()
    say_lines(console, lines)
    for path in written:
        say(console, f"written: {path}")


def say_lines(console: Console, lines: Iterable[str]) -> None:
    """Prints rows of tables as they are, and sentences that are wider over several lines."""
    wrapper = TextWrapper(
        _COLUMNS, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    for line in lines:
        for part in wrapper.wrap(line) if len(line) > _COLUMNS else [line]:
            say(console, part)
