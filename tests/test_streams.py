"""Streams: draws depend on seed, replication, name and kind, and on nothing else."""

import subprocess
import sys

import pytest

from sim.streams import Stream, Streams


def draws_of(stream: Stream) -> list[float]:
    return [stream.random() for _ in range(200)]


def test_same_name_same_draws_whoever_else_draws() -> None:
    alone = Streams(1, 0).stream("store-1/disk")
    crowd = Streams(1, 0)
    draws_of(crowd.stream("store-0/disk"))
    assert draws_of(alone) == draws_of(crowd.stream("store-1/disk"))


@pytest.mark.parametrize(
    "other",
    [
        Streams(2, 0).stream("a"),
        Streams(1, 1).stream("a"),
        Streams(1, 0).stream("b"),
        Streams(11, 0).stream("a"),
    ],
)
def test_seed_replication_and_name_each_change_the_draws(other: Stream) -> None:
    assert not set(draws_of(Streams(1, 0).stream("a"))) & set(draws_of(other))


def test_a_second_owner_is_refused() -> None:
    streams = Streams(1, 0)
    streams.stream("a")
    with pytest.raises(ValueError, match="has an owner"):
        streams.stream("a")


def test_draws_of_one_kind_do_not_shift_another() -> None:
    plain, mixed = Streams(1, 0).stream("a"), Streams(1, 0).stream("a")
    for _ in range(1000):
        mixed.exponential(1e6)
    assert draws_of(plain) == draws_of(mixed)


def test_randint_reaches_both_ends_evenly() -> None:
    stream = Streams(1, 0).stream("dice")
    rolls = [stream.randint(1, 6) for _ in range(60_000)]
    counts = [rolls.count(face) for face in range(1, 7)]
    assert sum(counts) == 60_000
    # Five standard deviations of a binomial count.
    assert all(abs(count - 10_000) < 5 * (10_000 * 5 / 6) ** 0.5 for count in counts)


def test_draws_are_the_same_in_another_process_with_another_hash_seed() -> None:
    script = "from sim.streams import Streams; print(Streams(7, 3).stream('x').randint(0, 10**15))"
    told = {
        subprocess.run(
            [sys.executable, "-c", script],
            check=True,
            capture_output=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
        ).stdout
        for seed in ("0", "1")
    }
    assert told == {f"{Streams(7, 3).stream('x').randint(0, 10**15)}\n".encode()}
