"""How counts and times are written in a sentence, where no interval says with which digits."""

from __future__ import annotations


def count(number: float, what: str) -> str:
    """Returns ``1 unit``, ``2,000 units`` or, of a mean, ``12.5 units``."""
    shown = f"{number:,.0f}" if number >= 100 or number == int(number) else f"{number:.1f}"
    return f"{shown} {what}" if shown == "1" else f"{shown} {what}s"


def number_of(things: float, what: str) -> str:
    """Returns what ``count`` does, but ``no lock`` for none."""
    return count(things, what) if things else f"no {what}"


def large_count(number: float, what: str) -> str:
    """Returns ``1.2 M events``; below a hundred thousand what ``count`` does."""
    return f"{number / 1e6:,.1f} M {what}s" if number >= 1e5 else count(number, what)


def seconds(value_s: float) -> str:
    """Returns ``4.96 s`` or ``50.4 ms``."""
    if value_s >= 999.5:
        return f"{value_s:,.0f} s"
    return f"{value_s:.3g} s" if value_s >= 0.9995 else f"{1000 * value_s:.3g} ms"
