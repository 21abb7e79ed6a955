"""How unequal the waits on a TiDB node are: Go's queues beside one queue, in order or at random.

A closed loop of connections on a node with 16 hardware threads. Each asks a store once per
statement, through the goroutines that client-go and grpc-go have for it: the connection's own, the
loops that collect and write messages, and those that read and hand out answers. Costs are rough;
what is compared is p95 over mean of the same work in three orders, and as the model has it, which
knows two stretches of work and not who does it.

Source: golang/go src/runtime/proc.go (findRunnable, runqput, injectglist, runqsteal);
tikv/client-go internal/client/client_batch.go; grpc-go internal/transport.
"""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Callable
from functools import partial
from math import floor
from statistics import fmean, quantiles
from typing import Final, Protocol

from sim.distributions import LognormalMean, Sampler
from sim.engine import FifoServers
from sim.hardware.go_cpu import GoCpu
from sim.streams import Streams

THREADS: Final = 16
CONNECTIONS: Final = 12
"""To three stores, four each."""
WAKING_US: Final = 5.0
_STORE_US: Final = 350.0
_CLIENT_US: Final = 250.0
_RUN_US: Final = 1_000_000.0
_WARMUP_US: Final = 200_000.0
_STRETCHES_US: Final = (58.0, 40.0)
"""CPU of a statement until the store is asked, and after its answer, that of messages included."""

Done = Callable[[int], None]
"""What a goroutine does when it has run, on a thread."""
Goroutine = tuple[float, Done]
"""Its CPU time in us, and that."""


class Order(Protocol):
    """Which goroutine runs next; ``thread`` is -1 where the network wakes one."""

    idle: set[int]

    def ready(self, goroutine: Goroutine, thread: int) -> None: ...  # noqa: D102
    def next(self, thread: int) -> Goroutine | None: ...  # noqa: D102


class OneQueue:
    """One queue for all threads, in order or at random."""

    def __init__(self, rng: random.Random | None = None) -> None:
        """Args: ``rng`` chooses; None: first come, first served."""
        self._rng = rng
        self._queue: deque[Goroutine] = deque()
        self.idle = set(range(THREADS))

    def ready(self, goroutine: Goroutine, thread: int) -> None:
        """Queues a goroutine."""
        del thread
        self._queue.append(goroutine)

    def next(self, thread: int) -> Goroutine | None:
        """Takes one out."""
        del thread
        if self._rng and self._queue:
            self._queue.rotate(-self._rng.randrange(len(self._queue)))
        return self._queue.popleft() if self._queue else None


class GoQueues:
    """A queue for each thread, one place before it, and what the network has made ready."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._local: list[deque[Goroutine]] = [deque() for _ in range(THREADS)]
        self._before: list[Goroutine | None] = [None] * THREADS
        self._network: deque[Goroutine] = deque()
        self.idle = set(range(THREADS))

    def ready(self, goroutine: Goroutine, thread: int) -> None:
        """Queues a goroutine; one that another one wakes runs next on that one's thread."""
        if thread < 0:
            self._network.append(goroutine)
            return
        if (displaced := self._before[thread]) is not None:
            self._local[thread].append(displaced)
        self._before[thread] = goroutine

    def next(self, thread: int) -> Goroutine | None:
        """Takes one from the thread's own queue, the network, or another's queue."""
        own = self._local[thread]
        if (first := self._before[thread]) is not None:
            self._before[thread] = None
            return first
        if not own and self._network:
            share = len(self._network)
            if self.idle:  # Those are woken, and find the rest.
                share = max(1, share - len(self.idle))
            own.extend(self._network.popleft() for _ in range(share))
        if not own:
            self._steal(own, thread)
        return own.popleft() if own else None

    def _steal(self, own: deque[Goroutine], thief: int) -> None:
        threads = [thread for thread in range(THREADS) if thread != thief]
        self._rng.shuffle(threads)
        for thread in threads:
            theirs = self._local[thread]
            if theirs:
                own.extend(theirs.popleft() for _ in range((len(theirs) + 1) // 2))
                return
        for thread in threads:
            if (first := self._before[thread]) is not None:
                self._before[thread] = None
                own.append(first)
                return


class Loop:
    """A goroutine that handles all that has come since it ran last."""

    def __init__(self, node: Node, base_us: float, each_us: float, then: Loop | Done) -> None:
        """Args: ``then`` gets what was handled."""
        self._node = node
        self._base_us = base_us
        self._each_us = each_us
        self._then = then
        self._come: list[int] = []
        self._awake = False

    def take(self, clients: list[int], thread: int) -> None:
        """Queues work of some clients."""
        self._come += clients
        if not self._awake:
            self._awake = True
            self._wake(thread)

    def _wake(self, thread: int) -> None:
        handled, self._come = self._come, []
        cost_us = self._base_us + self._each_us * len(handled)

        def done(thread: int) -> None:
            self._hand_on(handled, thread)
            self._awake = bool(self._come)
            if self._come:
                self._wake(thread)

        self._node.wake((self._node.draw(cost_us), done), thread)

    def _hand_on(self, handled: list[int], thread: int) -> None:
        if isinstance(self._then, Loop):
            self._then.take(handled, thread)
            return
        for client in handled:
            self._then(client)


class Node:
    """One TiDB node and its clients."""

    def __init__(self, clients: int, order: Order, rng: random.Random) -> None:
        self._order = order
        self._rng = rng
        self._calls: list[tuple[float, int, Callable[[], None]]] = []
        self._pushed = 0
        self._now_us = 0.0
        self._began = [0.0] * clients
        self._thread = 0
        self._answers = [
            Loop(self, 5, 1, Loop(self, 3, 2, self._resume)) for _ in range(CONNECTIONS)
        ]
        self._asks = [
            Loop(self, 5, 1.5, Loop(self, 8, 1, partial(self._ask, to)))
            for to in range(CONNECTIONS)
        ]
        self._latencies_us: list[float] = []
        for client in range(clients):
            self._at(rng.random() * 2_000, partial(self._statement, client))

    def latencies_us(self) -> list[float]:
        """Runs it for a second; returns how long statements took after the warm-up."""
        while self._now_us < _RUN_US:
            self._now_us, _, call = heapq.heappop(self._calls)
            call()
        return self._latencies_us

    def draw(self, mean_us: float) -> float:
        """Returns a time of a mean."""
        return mean_us * _variation(self._rng)

    def wake(self, goroutine: Goroutine, thread: int) -> None:
        """Makes a goroutine ready, and wakes a thread for it."""
        self._order.ready(goroutine, thread)
        if self._order.idle:
            idle = self._order.idle.pop()
            self._at(WAKING_US, lambda: self._run(idle))

    def _at(self, in_us: float, call: Callable[[], None]) -> None:
        self._pushed += 1
        heapq.heappush(self._calls, (self._now_us + in_us, self._pushed, call))

    def _run(self, thread: int) -> None:
        goroutine = self._order.next(thread)
        if goroutine is None:
            self._order.idle.add(thread)
            return
        cost_us, done = goroutine

        def end() -> None:
            self._thread = thread
            done(thread)
            self._run(thread)

        self._at(cost_us, end)

    def _statement(self, client: int) -> None:
        self._began[client] = self._now_us
        to = self._rng.randrange(CONNECTIONS)
        self.wake((self.draw(48), lambda thread: self._asks[to].take([client], thread)), -1)

    def _ask(self, to: int, client: int) -> None:
        self._at(self.draw(_STORE_US), lambda: self._answers[to].take([client], -1))

    def _resume(self, client: int) -> None:
        self.wake((self.draw(30), lambda _: self._answer(client)), self._thread)

    def _answer(self, client: int) -> None:
        self._at(self.draw(_CLIENT_US), partial(self._end, client))

    def _end(self, client: int) -> None:
        if self._now_us > _WARMUP_US:
            self._latencies_us.append(self._now_us - self._began[client])
        self._statement(client)


def as_the_model(clients: int) -> list[float]:
    """Returns latencies in us of the same loop with the model's law of waits."""
    streams = Streams(clients, 0)
    stream = streams.stream("cpu")
    variation = Sampler(LognormalMean(1_000_000, 0.5), stream)
    node = GoCpu(FifoServers(THREADS), variation, stream)
    rng, pushed = random.Random(clients), 0
    latencies_us: list[float] = []
    calls = [(floor(rng.random() * 2e6), client, 0, 0) for client in range(clients)]
    heapq.heapify(calls)
    while calls[0][0] < _RUN_US * 1_000:
        now_ns, _, stretch, began_ns = heapq.heappop(calls)
        if not stretch:
            if now_ns > _WARMUP_US * 1_000 and began_ns:
                latencies_us.append((now_ns - began_ns) / 1_000)
            began_ns = now_ns
        away_ns = _variation(rng) * (_CLIENT_US if stretch else _STORE_US) * 1_000
        next_ns = now_ns + node.work_ns(now_ns, _STRETCHES_US[stretch] * 1_000) + floor(away_ns)
        pushed += 1
        heapq.heappush(calls, (next_ns, clients + pushed, 1 - stretch, began_ns))
    return latencies_us


def _variation(rng: random.Random) -> float:
    """Returns a log-normal number of mean 1 and a coefficient of variation of a half."""
    return rng.lognormvariate(-0.111, 0.472)


def main() -> None:
    """Prints rates and latencies by connections and order."""
    orders: dict[str, Callable[[], Order]] = {
        "in order": OneQueue,
        "at random": lambda: OneQueue(random.Random(1)),
        "as Go does": lambda: GoQueues(random.Random(1)),
    }
    print(
        f"{'connections':>11} {'order':>11} {'1/s':>9} {'mean ms':>8} {'p95 ms':>7} {'p95/mean':>9}"
    )
    for clients in (50, 100, 200, 300, 600):
        for name in (*orders, "the model"):
            if name in orders:
                times = Node(clients, orders[name](), random.Random(clients)).latencies_us()
            else:
                times = as_the_model(clients)
            mean, p95 = fmean(times), quantiles(times, n=20)[-1]
            rate = len(times) / (_RUN_US - _WARMUP_US) * 1e6
            print(
                f"{clients:11} {name:>11} {rate:9,.0f} {mean / 1e3:8.3f} {p95 / 1e3:7.3f} "
                f"{p95 / mean:9.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
