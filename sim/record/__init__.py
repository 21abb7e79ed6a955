"""What a run records: facts, as integers, to be analysed later.

Knows windows of simulated time, histograms and fact tables. Knows nothing of what is simulated, of
the warm-up, of means and intervals (those are ``analysis``), nor of any file format: that is the
business of the ``FactSink`` which is passed to a unit.
"""

from sim.record.facts import FactSink, MemorySink, NoSink
from sim.record.histogram import bucket_of
from sim.record.recorder import Recorder

__all__ = [
    "FactSink",
    "MemorySink",
    "NoSink",
    "Recorder",
    "bucket_of",
]
