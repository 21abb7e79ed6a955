"""The detector's table: scripts in tests/testdata/deadlock, and a depth-first search as twin."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.protocol.detect_table import DetectTable, WaitForEntry
from tests import datadriven
from tests.datadriven import Command
from tests.protocol.mutants import must_be_caught

TTL_NS = 100


class DetectScript:
    """Runs lines such as ``detect 1 2 key=a at=0``."""

    def __init__(self) -> None:
        self.table = DetectTable(TTL_NS)
        self.now_ns = 0

    def execute(self, command: Command) -> str:
        """detect WAITER HOLDER key= [at=] | over WAITER HOLDER key="""
        self.now_ns = command.number("at", self.now_ns)
        numbers = [int(word) for word in command.words]
        key = command.options.get("key", "").encode()
        found = ""
        match command.name, numbers:
            case "detect", [waiter, holder]:
                chain = self.table.detect(waiter, holder, key, self.now_ns)
                found = f"deadlock: {show(chain)}" if chain else "waits"
            case "over", [waiter, holder]:
                self.table.clean_up_wait_for(waiter, holder, key)
            case _:
                raise AssertionError(command)
        return f"{found}\n  {show(self.table.edges(self.now_ns))}".strip("\n")


def show(edges: list[WaitForEntry]) -> str:
    waits = [f"{e.txn} waits for {e.wait_for_txn} at {e.key.decode()}" for e in edges]
    return ", ".join(waits) or "nobody waits"


@pytest.mark.parametrize("path", datadriven.files("deadlock"), ids=lambda path: path.stem)
def test_scripts(path: Path, rewrite: bool) -> None:
    datadriven.run(path, DetectScript().execute, rewrite=rewrite)


class EdgeList:
    """The same graph as a list of [waiter, holder, keys, seen], searched depth first."""

    def __init__(self) -> None:
        self.edges: list[tuple[int, int, set[bytes], list[int]]] = []

    def alive(self, now_ns: int) -> list[tuple[int, int, set[bytes], list[int]]]:
        self.edges = [edge for edge in self.edges if now_ns - edge[3][0] < TTL_NS]
        return self.edges

    def reaches(self, start: int, goal: int, now_ns: int, seen: frozenset[int]) -> bool:
        if start == goal:
            return True
        return any(
            self.reaches(holder, goal, now_ns, seen | {start})
            for waiter, holder, _, _ in self.alive(now_ns)
            if waiter == start and holder not in seen
        )

    def detect(self, waiter: int, holder: int, key: bytes, now_ns: int) -> bool:
        for known_waiter, known_holder, keys, last_seen in self.alive(now_ns):
            if (known_waiter, known_holder) == (waiter, holder):
                keys.add(key)
                last_seen[0] = now_ns
                return False
        if self.reaches(holder, waiter, now_ns, frozenset()):
            return True
        self.edges.append((waiter, holder, {key}, [now_ns]))
        return False

    def over(self, waiter: int, holder: int, key: bytes) -> None:
        for known_waiter, known_holder, keys, _ in self.edges:
            if (known_waiter, known_holder) == (waiter, holder):
                keys.discard(key)
        self.edges = [edge for edge in self.edges if edge[2]]


TXNS = st.integers(1, 5)
KEYS = st.sampled_from([b"a", b"b"])
STEPS = st.lists(
    st.tuples(st.sampled_from(["detect"] * 2 + ["over"]), TXNS, TXNS, KEYS, st.integers(0, 60)),
    max_size=30,
)
Step = tuple[str, int, int, bytes, int]


def compare(steps: list[Step], table: DetectTable) -> None:
    twin = EdgeList()
    now_ns = 0
    for name, waiter, holder, key, later_ns in steps:
        now_ns += later_ns
        if name == "detect":
            chain = table.detect(waiter, holder, key, now_ns)
            assert bool(chain) == twin.detect(waiter, holder, key, now_ns)
            if chain:
                check_cycle(chain, twin, waiter, now_ns)
        else:
            table.clean_up_wait_for(waiter, holder, key)
            twin.over(waiter, holder, key)
        expected = sorted((w, h, k) for w, h, keys, _ in twin.alive(now_ns) for k in sorted(keys))
        assert sorted(tuple(edge) for edge in table.edges(now_ns)) == expected


def check_cycle(chain: list[WaitForEntry], twin: EdgeList, waiter: int, now_ns: int) -> None:
    """A wait chain must be a closed walk over living edges that ends with the refused one."""
    assert chain[-1].txn == waiter
    for edge, following in zip(chain, chain[1:] + chain[:1], strict=True):
        assert edge.wait_for_txn == following.txn
    living = {(w, h, k) for w, h, keys, _ in twin.alive(now_ns) for k in keys}
    assert {tuple(edge) for edge in chain[:-1]} <= living


@given(STEPS)
def test_detects_what_a_depth_first_search_finds(steps: list[Step]) -> None:
    compare(steps, DetectTable(TTL_NS))


class NeverExpires(DetectTable):
    """Mutant: edges live for ever."""

    def __init__(self, ttl_ns: int) -> None:
        super().__init__(ttl_ns * 1000)


class SeesDirectCyclesOnly(DetectTable):
    """Mutant: looks one edge far."""

    def _path(self, start: int, goal: int, now_ns: int) -> list[WaitForEntry] | None:
        path = super()._path(start, goal, now_ns)
        return path if path is not None and len(path) < 2 else None


class CleansNothing(DetectTable):
    """Mutant: a transaction that went on still waits in the table."""

    def clean_up_wait_for(self, waiter: int, holder: int, key: bytes) -> None:
        del waiter, holder, key


@pytest.mark.parametrize("mutant", [NeverExpires, SeesDirectCyclesOnly, CleansNothing])
def test_twin_catches(mutant: type[DetectTable]) -> None:
    must_be_caught(STEPS, lambda steps: compare(steps, mutant(TTL_NS)))


def test_expired_edges_close_no_cycle() -> None:
    table = DetectTable(TTL_NS)
    table.detect(1, 2, b"a", 0)
    assert [edge.txn for edge in table.detect(2, 1, b"b", 99)] == [1, 2]
    assert table.detect(2, 1, b"b", 100) == []
