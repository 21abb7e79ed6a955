"""How counts and times are written in a verdict, where no interval says with which digits."""

from __future__ import annotations


def number_of(count: float, what: str) -> str:
    """Returns ``no lock``, ``1 lock`` or ``12.5 locks``; a mean may be no whole number."""
    if count == 0:
        return f"no {what}"
    shown = f"{count:,.0f}" if count >= 100 or count == int(count) else f"{count:.1f}"
    return f"{shown} {what}" if shown == "1" else f"{shown} {what}s"


def seconds(value_s: float) -> str:
    """Returns ``4.96 s`` or ``50.4 ms``."""
    if value_s >= 999.5:
        return f"{value_s:,.0f} s"
    return f"{value_s:.3g} s" if value_s >= 0.9995 else f"{1000 * value_s:.3g} ms"
