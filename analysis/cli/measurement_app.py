"""Commands that turn measurements into scenarios, or parts of them.

Commands import what they need when they are called, so that ``--help`` and ``check`` stay quick.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Final

import typer

from analysis.cli.completion import machines, words

_NAME: Final = r"[A-Za-z_][A-Za-z0-9_-]{0,39}"

_Fio = Annotated[
    list[Path] | None, typer.Option(metavar="FILE...", help="fio's JSON, for the raft log's disk.")
]
_Ping = Annotated[
    list[Path] | None,
    typer.Option(
        "--ping", "--sockperf", "--iperf3", metavar="FILE...", help="Their output, for the network."
    ),
]
_Toml = Annotated[Path | None, typer.Option(metavar="FILE", help="A tikv.toml.")]
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


def init(
    *,
    fio: _Fio = None,
    ping: _Ping = None,
    tikv: _Toml = None,
    prometheus: _Metrics = None,
    machine: _Machine = None,
    rate: _Rate = None,
    name: Annotated[str, typer.Option(help="Name of disk and network.")] = "own",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Output file of the scenario.")
    ] = None,
    force: _Force = False,
    as_json: _ReportAsJson = False,
) -> None:
    """Writes a capacity study from what you measured.

    Each option takes as many files as you have. docs/CALIBRATE.md says how to measure.
    """
    from analysis.cli.init_command import InitRequest, init_command

    _check_name(name)
    request = InitRequest(
        fio=tuple(fio or ()),
        network=tuple(ping or ()),
        tikv=tikv,
        prometheus=tuple(prometheus or ()),
        machine=machine,
        rate=rate,
        name=name,
        out=out,
        replace=force,
        as_json=as_json,
    )
    raise typer.Exit(init_command(request))


def calibrate(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="disk, network or tikv.",
            autocompletion=words("disk", "network", "tikv"),
        ),
    ],
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="Output of fio, ping, sockperf or iperf3, or a tikv.toml."
        ),
    ],
    *,
    name: Annotated[str, typer.Option(help="Name of the profile.")] = "measured",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Output file of the profile.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Output file of the disk's picture.")
    ] = None,
    prometheus: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="For tikv: a range query's JSON.")
    ] = None,
    force: _Force = False,
    as_json: _ReportAsJson = False,
) -> None:
    """Turns measurements into parts of a scenario.

    docs/CALIBRATE.md says how to measure.
    """
    from analysis.cli.calibrate_command import KINDS, CalibrateRequest, calibrate_command

    if kind not in KINDS:
        raise typer.BadParameter(f"{kind!r} cannot be calibrated; write disk, network or tikv")
    _check_name(name)
    request = CalibrateRequest(
        kind=kind,
        files=tuple(files),
        name=name,
        out=out,
        plot=plot,
        prometheus=tuple(prometheus or ()),
        replace=force,
        as_json=as_json,
    )
    raise typer.Exit(calibrate_command(request))


def _check_name(name: str) -> None:
    if re.fullmatch(_NAME, name) is None:
        raise typer.BadParameter(
            f"--name {name!r} cannot be used; use letters, digits, _ and -, a letter first"
        )


COMMANDS = (
    (init, "{program} init --fio fio/*.json --ping ping.txt --tikv tikv.toml --out my.yaml"),
    (calibrate, "{program} calibrate disk fio/*.json --out lab.yaml --plot lab.png"),
)
"""Each with an example, in the order of ``--help``."""
