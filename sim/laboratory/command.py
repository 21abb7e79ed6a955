"""What a command is: how it is written, what it is about, what it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from sim.laboratory.laboratory import Laboratory
from sim.laboratory.words import Words

ROUTE: Final = "[store=STORE] [region=REGION] [epoch=CONF_VER:VERSION] [context=NAME] [as NAME]"
"""What every request takes besides."""

AWAITED: Final = "[within=10s] [as NAME]"
"""What every change of a region takes besides."""


class Command(NamedTuple):
    """One command; ``takes`` are the words that all commands of its kind have in common."""

    usage: str
    about: str
    run: Callable[[Laboratory, Words], str]
    takes: str = ""
