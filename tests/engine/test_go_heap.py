"""When a heap is marked, and for how long."""

from __future__ import annotations

from sim.etcd.go_heap import MARK_NS_PER_BYTE, Heap
from sim.units import MIB


def test_a_small_heap_is_marked_every_four_megabytes() -> None:
    heap = Heap(MIB)
    assert not heap.allocate(3 * MIB - 1, 0)
    assert heap.allocate(1, 0)


def test_what_stays_makes_cycles_rarer_and_longer() -> None:
    heap = Heap(10 * MIB)
    assert not heap.allocate(10 * MIB, MIB)
    assert heap.allocate(MIB, 0)
    heap.begin(0)
    assert heap.left_ns == int(11 * MIB * MARK_NS_PER_BYTE)


def test_nothing_is_due_while_a_cycle_goes_on_and_nobody_takes_more_than_is_left() -> None:
    heap = Heap(10 * MIB)
    heap.begin(0)
    assert not heap.allocate(100 * MIB, 0)
    left_ns = heap.left_ns
    assert heap.take(left_ns - 10) == left_ns - 10
    assert heap.take(100) == 10
    assert heap.allocate(0, 0)
