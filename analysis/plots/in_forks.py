"""Calls in forks of this process, some at a time: drawing keeps a core busy, and there are others.

A fork sees what this process has built, and leaves nothing but the files that it writes.
"""

from __future__ import annotations

import gc
import os
import sys
import warnings
from collections import deque
from collections.abc import Callable
from typing import Final, Self

from analysis.program import cores

_MOST: Final = 8
"""Forks at a time: pictures are few."""


def worthwhile() -> int:
    """Returns how many forks at a time are worth their while here; 1: none, for there is one core.

    Where frameworks of the system do not survive a fork, as on macOS, there are none either.
    """
    return min(cores(), _MOST) if sys.platform == "linux" else 1


class Forks:
    """Makes calls in forks, and has seen the end of all when its block is left.

    A call that fails in a fork (a full disk, too little memory) is made again in this process,
    which raises what there is to raise.
    """

    def __init__(self, most: int) -> None:
        """Args: ``most`` is how many run at a time; with 1 all calls are made in this process."""
        self._most = most
        self._running: deque[tuple[int, Callable[[], object]]] = deque()

    def __enter__(self) -> Self:
        """Returns itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Waits for all forks, then makes up for those that failed, unless something else did."""
        failed = [call for child, call in self._running if _fails(child)]
        self._running.clear()
        if kind is None:
            for call in failed:
                call()

    def run(self, call: Callable[[], object]) -> None:
        """Makes a call, at once or when a fork before it has ended."""
        if self._most == 1:
            call()
            return
        if len(self._running) == self._most:
            child, before = self._running.popleft()
            if _fails(child):
                before()
        self._running.append((_forked(call), call))


def _fails(child: int) -> bool:
    """Waits for a fork; returns whether its call has failed."""
    _, status = os.waitpid(child, 0)
    return bool(status)


def _forked(call: Callable[[], object]) -> int:
    """Makes a call in a fork; returns its process id."""
    with warnings.catch_warnings():
        # This process has threads (Spark's), but none that a picture needs, or whose lock it takes.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child:
        return child
    status = 1
    gc.disable()  # It would copy every page with objects on it, to look for cycles.
    try:
        call()
        status = 0
    finally:
        os._exit(status)
