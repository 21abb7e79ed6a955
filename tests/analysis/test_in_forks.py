"""Forks that draw: all have ended, a failure is this process's own, one core needs none."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from analysis.plots.in_forks import Forks, worthwhile

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")


def write_pid(file: Path) -> None:
    file.write_text(str(os.getpid()), encoding="ascii")


def is_left(file: Path) -> bool:
    """Returns whether the process that wrote a file is still there, or nobody has seen its end."""
    try:
        os.waitpid(int(file.read_text(encoding="ascii")), os.WNOHANG)
    except ChildProcessError:
        return False
    return True


@pytest.mark.parametrize("most", [2, 3])
def test_all_calls_are_made_elsewhere_and_have_ended(tmp_path: Path, most: int) -> None:
    with Forks(most) as forks:
        for number in range(7):
            forks.run(partial(write_pid, tmp_path / str(number)))
    files = list(tmp_path.iterdir())
    pids = {file.read_text(encoding="ascii") for file in files}
    assert len(pids) == 7
    assert str(os.getpid()) not in pids
    assert not any(map(is_left, files))


def test_with_one_core_this_process_does_it(tmp_path: Path) -> None:
    with Forks(1) as forks:
        forks.run(partial(write_pid, tmp_path / "here"))
        assert (tmp_path / "here").read_text(encoding="ascii") == str(os.getpid())


def run_all(calls: list[Callable[[], object]]) -> None:
    with Forks(2) as forks:
        for call in calls:
            forks.run(call)


@pytest.mark.parametrize("more", [1, 4])
def test_what_fails_in_a_fork_is_raised_here_when_the_others_have_ended(
    tmp_path: Path, more: int
) -> None:
    others = [partial(write_pid, tmp_path / str(number)) for number in range(more)]
    with pytest.raises(FileNotFoundError, match="gone"):
        run_all([partial(write_pid, tmp_path / "gone" / "file"), *others])
    assert not any(map(is_left, tmp_path.iterdir()))


def test_a_killed_fork_is_made_up_for(tmp_path: Path) -> None:
    here = os.getpid()

    def write_here() -> None:
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        write_pid(tmp_path / "file")

    with Forks(2) as forks:
        forks.run(write_here)
    assert (tmp_path / "file").read_text(encoding="ascii") == str(here)


def test_another_error_is_not_hidden_by_a_failed_fork(tmp_path: Path) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    forks = Forks(2)
    forks.run(partial(write_pid, tmp_path / "gone" / "file"))
    with pytest.raises(KeyboardInterrupt), forks:
        interrupted()


def test_there_is_a_fork_for_each_core_of_this_process() -> None:
    assert 1 <= worthwhile() <= max(1, os.cpu_count() or 1)
