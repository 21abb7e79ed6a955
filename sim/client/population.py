"""How many transactions are in the system, as an area under a curve.

Law (Little): over any time, the area under the number in the system is the sum of the stays, those
not yet over included. The stays of what has ended are not known here: they come from the latencies
that were recorded, so that the two can be held against each other.

Source: J. D. C. Little, A proof for the queuing formula L = lambda W, 1961 (its sample-path form).
"""


class Population:
    """Transactions between their intended start and their end; all times in ns."""

    __slots__ = ("_area_ns", "_changed_ns", "_entered_ns", "_tickets")

    def __init__(self) -> None:
        self._tickets = 0
        self._entered_ns: dict[int, int] = {}
        self._area_ns = 0
        self._changed_ns = 0

    @property
    def present(self) -> int:
        """Returns how many are in the system now."""
        return len(self._entered_ns)

    def enter(self, now_ns: int) -> int:
        """Notes a start; returns the ticket to leave with."""
        self._advance(now_ns)
        self._tickets += 1
        self._entered_ns[self._tickets] = now_ns
        return self._tickets

    def leave(self, now_ns: int, ticket: int) -> None:
        """Notes an end."""
        self._advance(now_ns)
        del self._entered_ns[ticket]

    def area_ns(self, now_ns: int) -> int:
        """Returns the area under the number in the system until ``now_ns``."""
        return self._area_ns + self.present * (now_ns - self._changed_ns)

    def unfinished_ns(self, now_ns: int) -> int:
        """Returns how long those in the system have stayed so far, in sum."""
        return sum(now_ns - entered_ns for entered_ns in self._entered_ns.values())

    def _advance(self, now_ns: int) -> None:
        self._area_ns += self.present * (now_ns - self._changed_ns)
        self._changed_ns = now_ns
