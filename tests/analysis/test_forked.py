"""A call in a fork: what it raises comes back, what it builds does not, its death is ours."""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path

import pytest

from analysis.pipeline.forked import call_in_fork
from analysis.study.unit_folder import UnitNotWrittenError

BUILT: list[int] = []


def test_it_runs_elsewhere_and_is_waited_for(tmp_path: Path) -> None:
    said = tmp_path / "said"

    def work() -> None:
        BUILT.append(1)
        said.write_text(str(os.getpid()))

    call_in_fork(work)
    assert said.read_text() != str(os.getpid())
    assert not BUILT


def test_what_it_raises_is_raised() -> None:
    def full() -> None:
        raise UnitNotWrittenError(errno.ENOSPC, "no room", "/units")

    with pytest.raises(UnitNotWrittenError) as raised:
        call_in_fork(full)
    assert (raised.value.errno, raised.value.filename) == (errno.ENOSPC, "/units")


@pytest.mark.parametrize(
    ("ends", "status"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), -signal.SIGKILL),
        (lambda: os._exit(9), 9),
        (lambda: os._exit(0), 1),
    ],
)
def test_whoever_waits_ends_alike(ends: object, status: int) -> None:
    child = os.fork()
    if not child:
        call_in_fork(ends)  # type: ignore[arg-type]
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == status
