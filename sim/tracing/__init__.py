"""A few transactions of a unit, followed station by station.

Law: who is followed runs exactly as he would have run. A followed session is given parts of its own
that write down what it asks of its TiDB node, and when it goes on; the unit's facts are the same
bytes, and a unit in which nobody is followed does not know of this package.
"""

from sim.tracing.spans import Span, TracedTransaction
from sim.tracing.traced_unit import TracedUnit, sampling_moments_ns, trace_unit

__all__ = ["Span", "TracedTransaction", "TracedUnit", "sampling_moments_ns", "trace_unit"]
