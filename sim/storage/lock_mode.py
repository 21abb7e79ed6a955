"""Which path a pessimistic lock takes on a store, now.

Law: in-memory locks need pipelining, and a cluster whose every store knows them: that is what the
feature gate sees to, unless it is forced open. All of it may change while the store runs.

Source: tikv/tikv src/storage/txn/scheduler.rs (pessimistic_lock_mode), tikv/tikv#12078.
"""


class LockMode:
    """Switches of one store.

    Attributes:
        pipelined: answer when proposed (``pessimistic-txn.pipelined``).
        in_memory: keep it in memory: switched on, pipelined too, and the gate is open.
        pipelined_fallback: a lock that cannot be kept in memory is answered when proposed, as the
            documentation says, instead of after apply, as the code does.
    """

    __slots__ = ("_gate_open", "_wanted", "in_memory", "pipelined", "pipelined_fallback")

    def __init__(self, *, pipelined: bool, in_memory: bool, pipelined_fallback: bool) -> None:
        self.pipelined = pipelined
        self.pipelined_fallback = pipelined_fallback
        self._wanted = in_memory
        self._gate_open = True
        self.in_memory = False
        self._decide()

    def switch(self, *, pipelined: bool | None = None, in_memory: bool | None = None) -> None:
        """Takes an online change of configuration; None leaves a switch as it is."""
        self.pipelined = self.pipelined if pipelined is None else pipelined
        self._wanted = self._wanted if in_memory is None else in_memory
        self._decide()

    def open_gate(self, *, is_open: bool) -> None:
        """Takes what the cluster's version allows."""
        self._gate_open = is_open
        self._decide()

    @property
    def gate_matters(self) -> bool:
        """Whether only the gate keeps locks out of memory."""
        return self.pipelined and self._wanted and not self._gate_open

    def _decide(self) -> None:
        self.in_memory = self.pipelined and self._wanted and self._gate_open
