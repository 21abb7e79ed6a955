"""Observers that count: what became of each lock, who waited for latches, how busy stations were.

They feed the facts of every run. What must never be found is looked for in ``sim.checks``.
"""
