"""What a run leaves: facts, in integers, decided about later.

Knows windows of simulated time, histograms and fact tables. Knows nothing of what is simulated, of
the warm-up, of means and intervals (those are ``analysis``), nor of any file format: whoever runs a
unit passes a ``FactSink`` that does.
"""

from sim.record.facts import FactSink, MemorySink
from sim.record.histogram import bucket_bounds, bucket_of
from sim.record.recorder import Counter, Recorder, Series

__all__ = [
    "Counter",
    "FactSink",
    "MemorySink",
    "Recorder",
    "Series",
    "bucket_bounds",
    "bucket_of",
]
