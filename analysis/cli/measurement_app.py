"""Commands that turn measurements into scenarios, or parts of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from analysis.cli.completion import machines
from analysis.cli.options import CommandLine

_NAME: Final = r"[A-Za-z_][A-Za-z0-9_-]{0,39}"


def _name(text: str) -> str:
    if re.fullmatch(_NAME, text) is None:
        raise typer.BadParameter(
            f"{text!r} cannot be used; use letters, digits, _ and -, a letter first"
        )
    return text


_Fio = Annotated[
    list[Path] | None, typer.Option(metavar="FILE...", help="fio's JSON, for the raft log's disk.")
]
_Ping = Annotated[
    list[Path] | None,
    typer.Option(
        "--ping", "--sockperf", "--iperf3", metavar="FILE...", help="Their output, for the network."
    ),
]
_Toml = Annotated[list[Path] | None, typer.Option(metavar="FILE", help="One tikv.toml.")]
_Metrics = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE...", help="Range queries' JSON, for CPU costs; needs --tikv."),
]
_Machine = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Profile for cores and everything not measured; default i3.4xlarge.",
        autocompletion=machines,
    ),
]
_Rate = Annotated[str | None, typer.Option(metavar="N/s", help="Present load.")]
_Force = Annotated[
    bool, typer.Option("--force", help="Replace FILE; the old one is kept beside it.")
]
_ReportAsJson = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class InitCommand(CommandLine):
    """Writes a capacity study from what you measured.

    Each option takes as many files as you have. docs/CALIBRATE.md says how to measure.
    """

    fio: _Fio = None
    ping: _Ping = None
    tikv: _Toml = None
    prometheus: _Metrics = None
    machine: _Machine = None
    rate: _Rate = None
    name: Annotated[str, typer.Option(help="Name of disk and network.", callback=_name)] = "own"
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Output file of the scenario.")
    ] = None
    force: _Force = False
    as_json: _ReportAsJson = False

    @property
    def files(self) -> list[Path]:
        """All that is read."""
        given = (self.fio, self.ping, self.tikv, self.prometheus)
        return [file for files in given for file in files or ()]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrateCommand(CommandLine):
    """Turns measurements into parts of a scenario.

    docs/CALIBRATE.md says how to measure.
    """

    kind: Annotated[
        Literal["disk", "network", "tikv"],
        typer.Argument(metavar="KIND", help="disk, network or tikv."),
    ]
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="Output of fio, ping, sockperf or iperf3, or a tikv.toml."
        ),
    ]
    name: Annotated[str, typer.Option(help="Name of the profile.", callback=_name)] = "measured"
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Output file of the profile.")
    ] = None
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Output file of the disk's picture.")
    ] = None
    prometheus: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="For tikv: a range query's JSON.")
    ] = None
    force: _Force = False
    as_json: _ReportAsJson = False


COMMANDS = (
    (InitCommand, "{program} init --fio fio/*.json --ping ping.txt --tikv tikv.toml --out my.yaml"),
    (CalibrateCommand, "{program} calibrate disk fio/*.json --out lab.yaml --plot lab.png"),
)
"""Each with an example, in the order of ``--help``."""
