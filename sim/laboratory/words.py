"""The words of one command: a name, positions, ``option=value`` pairs and flags, in any order.

The reader of a command takes every word it knows; what was not taken is a problem (``done``), with
what it may have been meant to be. Names of options and flags may be written with
``-`` or ``_``, in any case; a quoted word is always a position.
"""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from sim.laboratory.grammar import ScriptProblem, is_option, unquoted
from sim.laboratory.values import duration_ns, expanded, key_of, size_bytes
from sim.units import NS_PER_MS

_FLAG: Final = re.compile(r"\[([a-z][a-z0-9-]*)\]")
"""A flag in a command's usage."""

_OTHER_FLAGS: Final = {
    "nowait": "no-wait",
    "insert": "should-not-exist",
    "values": "return-values",
    "check-existence": "return-values",
    "fair": "allow-lock-with-conflict",
    "resumable": "allow-lock-with-conflict",
    "use-async-commit": "async-commit",
    "1pc": "one-pc",
    "try-one-pc": "one-pc",
    "is-retry": "retry",
    "read-first": "scan",
    "almost": "almost-full",
    "almostfull": "almost-full",
    "already": "already-full",
    "alreadyfull": "already-full",
    "full": "already-full",
    "allowedonalmostfull": "allowed-on-almost-full",
}
"""Other names of flags."""

_TRUE: Final = {"true", "yes", "on", "1"}
_FALSE: Final = {"false", "no", "off", "0"}


def plain(name: str) -> str:
    """Returns a name as it is compared: lower case, ``-`` for ``_``."""
    return name.lower().replace("_", "-")


def _flag_of(word: str) -> str:
    name = plain(word)
    return _OTHER_FLAGS.get(name, name)


class Words:
    """One command line, being read."""

    def __init__(self, words: Sequence[str], usage: str = "") -> None:
        self.usage = usage
        self._positions: list[str] = []
        self._options: dict[str, tuple[str, str]] = {}
        self._asked_options: list[str] = ["as"]
        self._known_flags = _FLAG.findall(usage)
        self._flags: dict[str, None] = {}
        self.as_name = ""
        """The name after ``as``; empty: the command is waited for."""
        for word in words:
            if is_option(word):
                name, _, value = word.partition("=")
                if plain(name) in self._options:
                    raise ScriptProblem(f"{name} appears twice; keep one")
                self._options[plain(name)] = (name, unquoted(value))
            elif word.startswith('"'):
                self._positions.append(word)
            elif _flag_of(word) in self._known_flags:
                self._flags[_flag_of(word)] = None
            else:
                self._positions += expanded(word)
        self.as_name = self._name_after("as") or self.text("as", "") or self.text("async", "")

    def _name_after(self, flag: str) -> str:
        for place, word in enumerate(self._positions):
            if plain(word) == flag:
                if place + 1 == len(self._positions):
                    raise ScriptProblem(f"{flag} without a name; write {flag} r1")
                name = unquoted(self._positions[place + 1])
                del self._positions[place : place + 2]
                return name
        return ""

    def flag(self, name: str) -> bool:
        """Returns whether the flag ``name``, or ``name=true``, is there; the usage has it."""
        for said in self._options:
            if _flag_of(said) == name:
                return self._truth(said)
        return self._flags.pop(name, "") is None

    def skip(self, *fillers: str) -> None:
        """Drops the next position if it is one of the words that only make a line readable."""
        if self._positions and plain(self._positions[0]) in fillers:
            del self._positions[0]

    def _truth(self, name: str) -> bool:
        said, value = self._options.pop(name)
        if value.lower() in _TRUE | _FALSE:
            return value.lower() in _TRUE
        raise ScriptProblem(f"{said}={value} is neither true nor false; write {said} or leave it")

    def has(self, name: str) -> bool:
        """Returns whether the option ``name=`` is there; it stays to be read."""
        return name in self._options

    def text(self, *names_and_default: str) -> str:
        """Returns the value of an option; the last argument is its default, the others its names.

        Raises:
            ScriptProblem: if the option is there without a value.
        """
        *names, default = names_and_default
        self._asked_options += names
        for name in names:
            if name in self._options:
                said, value = self._options.pop(name)
                if not value:
                    raise ScriptProblem(f"{said}= without a value; write one or remove it")
                return value
        return default

    def number(self, name: str, default: int = 0) -> int:
        """Returns an option that is a whole number.

        Raises:
            ScriptProblem: if it is something else.
        """
        return whole_number(name, self.text(name, str(default)))

    def numbers(self, name: str) -> tuple[int, ...]:
        """Returns an option that is a list of whole numbers, ``1,2``."""
        text = self.text(name, "")
        return tuple(whole_number(name, part) for part in text.split(",") if part)

    def keys_option(self, *names: str) -> tuple[bytes, ...] | None:
        """Returns an option that is a list of keys, ``k1,k2``; None if it is not there."""
        text = self.text(*names, "\n")
        if text == "\n":
            return None
        return tuple(key_of(part) for part in text.split(",") if part and part != "none")

    def duration_ns(self, name: str, default: str) -> int:
        """Returns an option that is a duration; a bare number is milliseconds."""
        return duration_ns(self.text(name, default), bare_ns=NS_PER_MS)

    def size_bytes(self, name: str, default: int) -> int:
        """Returns an option that is a size."""
        return size_bytes(self.text(name, str(default)))

    def next(self, what: str) -> str:
        """Returns the next position.

        Raises:
            ScriptProblem: if there is none; ``what`` says what should be there.
        """
        if not self._positions:
            raise ScriptProblem(f"{what} is missing; write {self.usage}")
        return unquoted(self._positions.pop(0))

    def next_or(self, default: str) -> str:
        """Returns the next position, or ``default``."""
        return unquoted(self._positions.pop(0)) if self._positions else default

    def peek(self) -> str:
        """Returns the next position without taking it; empty if there is none."""
        return unquoted(self._positions[0]) if self._positions else ""

    def number_at(self, option: str, what: str) -> int:
        """Returns a number that is given as ``option=1``, as ``option 1`` or as a position."""
        if self.has(option):
            return self.number(option)
        self._asked_options.append(option)
        self.skip(option)
        return whole_number(what, self.next(what))

    def rest(self) -> list[str]:
        """Returns all positions that are left; one that looks like a flag misspelt is refused.

        Raises:
            ScriptProblem: as said.
        """
        words, self._positions = self._positions, []
        for word in words:
            meant = [] if word.startswith('"') else self._flag_meant_by(word)
            if meant:
                raise ScriptProblem(
                    f'{word} looks like a word of this command; write {meant[0]}, or "{word}" '
                    "if it is a key"
                )
        return [unquoted(word) for word in words]

    def _flag_meant_by(self, word: str) -> list[str]:
        return get_close_matches(plain(word), self._known_flags, n=1, cutoff=0.8)

    def keys(self, *, at_least: int = 1) -> tuple[bytes, ...]:
        """Returns all positions that are left, as keys.

        Raises:
            ScriptProblem: if there are fewer than ``at_least``.
        """
        words = self.rest()
        if len(words) < at_least:
            raise ScriptProblem(f"a key is missing; write {self.usage}")
        return tuple(key_of(word) for word in words)

    def other_options(self) -> dict[str, str]:
        """Returns the options that are left, as they are written."""
        rest, self._options = self._options, {}
        return dict(rest.values())

    def done(self) -> None:
        """Refuses the words that are left.

        Raises:
            ScriptProblem: for the first such word.
        """
        for name, (said, _) in self._options.items():
            known = [*self._asked_options, *self._known_flags]
            raise ScriptProblem(f"no option {said}; {suggestion(name, known, self.usage)}")
        for word in self._positions:
            known = [*self._known_flags, *(f"{name}=" for name in self._asked_options)]
            raise ScriptProblem(
                f"{word} is one word too many; {suggestion(plain(word), known, self.usage)}"
            )


def whole_number(name: str, text: str) -> int:
    """Returns a whole number.

    Raises:
        ScriptProblem: if ``text`` is none.
    """
    if not text.isascii() or not text.isdigit():
        raise ScriptProblem(f"{name} must be a whole number, is {text!r}; write {name}=1")
    return int(text)


def suggestion(word: str, known: list[str], usage: str) -> str:
    """Returns what a word may have been meant to be, or how the command is written."""
    close = get_close_matches(word, known, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]}?"
    return f"write {usage}"
