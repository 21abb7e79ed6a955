"""Queues with known answers, built of the stations that the model is built of.

Each runs alone, from a fixed seed, and comes with the formula that it has to meet.
"""

from sim.queueing.catalogue import QUEUES, Queue

__all__ = ["QUEUES", "Queue"]
