"""Files of one kind as the profile that they make together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from analysis.calibration.disk_profile import DiskProfile, profiles_of
from analysis.calibration.fio_file import FioRun, read_fio
from analysis.calibration.network_file import read_network
from analysis.calibration.network_profile import NetworkProfile, network_of
from analysis.calibration.prometheus_file import read_stages, together
from analysis.calibration.refusal import CalibrationError
from analysis.calibration.tikv_costs import KNOWN
from analysis.calibration.tikv_profile import TikvProfile, tikv_of


def read_disks(
    files: Iterable[Path], name: str, machine: str | None = None
) -> tuple[list[FioRun], list[DiskProfile]]:
    """Returns fio's runs, and the disks that they measured.

    Args:
        files: fio's.
        name: of the disk.
        machine: the profile that gives what no run shows; None: the default one.

    Raises:
        CalibrationError: if a file cannot be used.
    """
    runs = [read_fio(file) for file in dict.fromkeys(files)]
    return runs, profiles_of(runs, name, machine)


def read_network_files(files: Iterable[Path], name: str) -> NetworkProfile:
    """Returns the network that ping, sockperf or iperf3 measured.

    Raises:
        CalibrationError: if a file cannot be used.
    """
    parts = [part for file in dict.fromkeys(files) for part in read_network(file)]
    return network_of(parts, name)


def read_tikv(tomls: Sequence[Path], prometheus: Iterable[Path]) -> TikvProfile:
    """Returns what the one ``tikv.toml`` that is given and answers of Prometheus say.

    Raises:
        CalibrationError: if a file cannot be used.
    """
    if len(tomls) != 1:
        message = f"{len(tomls)} are given; write one tikv.toml, metrics after --prometheus"
        raise CalibrationError(tomls[1], "", message)
    files = dict.fromkeys(prometheus)
    growths = together(growth for file in files for growth in read_stages(file, KNOWN))
    return tikv_of(tomls[0], growths)
