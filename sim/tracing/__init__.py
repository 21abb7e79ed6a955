"""A few transactions of a unit, followed station by station.

Following changes nothing: the facts of a unit are the same bytes with and without it. A followed
session gets a TiDB node that writes down what is asked of it, and when the session goes on.
"""

from sim.tracing.spans import TracedTransaction
from sim.tracing.stations import Span
from sim.tracing.traced_unit import TracedUnit, sampling_moments_ns, trace_unit

__all__ = ["Span", "TracedTransaction", "TracedUnit", "sampling_moments_ns", "trace_unit"]
