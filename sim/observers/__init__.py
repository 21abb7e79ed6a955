"""Observers that count: fates of locks, waits for latches, busy stations, moves of regions.

They feed the facts of every run. What must never be found is looked for in ``sim.checks``.
"""
