"""What a request costs in CPU.

Law: ``request_ns`` for its first key, ``extra_key`` of that for each further one; and
``background_ns`` on threads that nobody waits for.
"""


class RequestCosts:
    """Means; every request draws its own."""

    __slots__ = ("background_ns", "extra_key", "request_ns")

    def __init__(self, *, request_ns: int, extra_key: float, background_ns: int) -> None:
        self.request_ns = request_ns
        self.extra_key = extra_key
        self.background_ns = background_ns

    def mean_ns(self, keys: float) -> float:
        """Returns the mean CPU of a request on ``keys`` keys, in ns."""
        return self.request_ns * (1 + self.extra_key * (keys - 1))
