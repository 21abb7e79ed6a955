"""Units: simulated time is integer nanoseconds, sizes are integer bytes.

Quantities are converted once, where a scenario is read; inside, a name's suffix (``_ns``,
``_bytes``, ``_per_s``) is its unit. Integers keep the clock exact: sums do not depend on the order
of additions and equal instants compare equal. This module imports nothing.
"""

NS_PER_US = 1_000
NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30


def ceil_div(a: int, b: int) -> int:
    """Returns ``a / b`` rounded up, exactly; ``b`` must be positive."""
    return -(-a // b)
