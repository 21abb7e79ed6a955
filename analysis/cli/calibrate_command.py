"""``calibrate``: measurements of a disk, a network or a TiKV as what a scenario can say.

The profile goes to the file, or to standard output; the report goes to standard output if the
profile does not. Status 1: the model does not say what was measured.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any, Final

from analysis.calibration.refusal import CalibrationError
from analysis.cli.console import messages, output, say
from analysis.cli.exit_status import ExitStatus

DISK: Final = "disk"
NETWORK: Final = "network"
TIKV: Final = "tikv"
KINDS: Final = (DISK, NETWORK, TIKV)
_HEADS: Final = (b"# Disk ", b"# Network ", b"# TiKV ")
"""How a profile begins."""
_HEAD_BYTES: Final = 10
_COLUMNS: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrateRequest:
    """What the command line asks for.

    Attributes:
        kind: one of ``KINDS``.
        files: what was measured.
        name: of the profile.
        out: where it is written; standard output if None.
        plot: where the picture is written, if at all.
        prometheus: range queries of TiKV's stages.
        as_json: print the report as JSON.
    """

    kind: str
    files: tuple[Path, ...]
    name: str = "measured"
    out: Path | None = None
    plot: Path | None = None
    prometheus: tuple[Path, ...] = ()
    as_json: bool = False


def calibrate_command(request: CalibrateRequest) -> int:
    """Returns the exit status; one line says what cannot be used."""
    work = {DISK: _disk, NETWORK: _network, TIKV: _tikv}[request.kind]
    try:
        return work(request)
    except CalibrationError as error:
        say(messages(), str(error))
    except OSError as error:
        say(messages(), f"{error.filename}: {error.strerror}; nothing was written there")
    return ExitStatus.BAD_INPUT


def _disk(request: CalibrateRequest) -> int:
    from analysis.calibration.disk_fit import fits, predictions
    from analysis.calibration.disk_profile import profiles_of
    from analysis.calibration.disk_report import blind_lines, fit_document, fit_lines, remarks
    from analysis.calibration.fio_file import read_fio
    from analysis.calibration.profile_text import yaml_of

    runs = [read_fio(file) for file in dict.fromkeys(request.files)]
    profiles = profiles_of(runs, request.name)
    found = fits(profiles)
    blind = list(predictions(profiles[0]))
    written = _write(request, {each.name: yaml_of(each) for each in profiles})
    if request.plot is not None:
        from analysis.calibration.disk_plot import draw_fits

        written += draw_fits(found, request.plot)
    doubts = list(remarks(profiles, runs))
    document = fit_document(profiles, found) | {"remarks": doubts}
    _tell(request, document, [*fit_lines(found), *blind_lines(blind), "", *doubts], written)
    return ExitStatus.FINE if all(fit.holds for fit in found) else ExitStatus.CLAIM_FAILED


def _network(request: CalibrateRequest) -> int:
    from analysis.calibration.network_file import read_network
    from analysis.calibration.network_profile import network_of

    measured = [part for file in dict.fromkeys(request.files) for part in read_network(file)]
    network = network_of(measured, request.name)
    written = _write(request, {request.name: network.text})
    _tell(request, network.document, list(network.lines), written)
    return ExitStatus.FINE


def _tikv(request: CalibrateRequest) -> int:
    from analysis.calibration.prometheus_file import read_stages, together
    from analysis.calibration.tikv_costs import KNOWN
    from analysis.calibration.tikv_profile import tikv_of

    if len(request.files) != 1:
        message = f"{len(request.files)} are given; write one tikv.toml, metrics after --prometheus"
        raise CalibrationError(request.files[1], "", message)
    files = dict.fromkeys(request.prometheus)
    stages = together(stage for file in files for stage in read_stages(file, KNOWN))
    tikv = tikv_of(request.files[0], stages)
    written = _write(request, {request.name: tikv.text})
    _tell(request, tikv.document, list(tikv.lines), written)
    return ExitStatus.FINE


def _write(request: CalibrateRequest, texts: dict[str, str]) -> list[Path]:
    """Writes profiles: the first under the given name, others beside it; returns where."""
    if request.out is None:
        if not request.as_json:
            say(output(), "".join(texts.values()).rstrip("\n"))
        return []
    out = request.out
    endings = [name.removeprefix(request.name) if place else "" for place, name in enumerate(texts)]
    paths = [out.with_name(f"{out.stem}{ending}{out.suffix}") for ending in endings]
    for path in paths:
        _check_replaceable(path)
    out.parent.mkdir(parents=True, exist_ok=True)
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def _check_replaceable(path: Path) -> None:
    """Refuses to write over what is no profile, such as the measurement itself."""
    if not path.is_file() or path.stat().st_size == 0:
        return
    with path.open("rb") as file:
        if not file.read(_HEAD_BYTES).startswith(_HEADS):
            raise CalibrationError(path, "", "exists and is no profile; name another --out")


def _tell(
    request: CalibrateRequest,
    document: dict[str, Any],
    lines: Sequence[str],
    written: Sequence[Path],
) -> None:
    if request.as_json:
        files = {"files": [str(path) for path in written]}
        say(output(), json.dumps(document | files, indent=1))
        return
    console = output() if request.out is not None else messages()
    for line in lines:
        # Rows of tables are narrow; what is wider is a sentence.
        for part in _wrapped(line) if len(line) > _COLUMNS else [line]:
            say(console, part)
    for path in written:
        say(console, f"written: {path}")


def _wrapped(line: str) -> list[str]:
    return wrap(
        line, _COLUMNS, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
