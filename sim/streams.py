"""Named random streams: what a component draws depends on its own name alone.

A stream is keyed by (seed, replication, name). Adding, removing or reordering components does not
change the draws of others, and two variants of a scenario share theirs (common random numbers). A
name has one owner: a second request for it is refused. Within a stream every kind of draw (uniform,
exponential, normal) has its own generator, so an extra draw of one kind does not change the others.

This is the only module that makes generators. A scalar numpy draw costs over 1 us, so numbers are
drawn in blocks.
"""

from hashlib import blake2b
from math import floor
from typing import Any, Literal

import numpy as np
from numpy.random import PCG64
from numpy.random.bit_generator import ISeedSequence

Kind = Literal["uniform", "exponential", "normal"]

FIRST_BLOCK = 64
"""Draws in a buffer's first block. Blocks double, since most streams are used little."""

LARGEST_BLOCK = 512


class Streams:
    """The random streams of one replication."""

    def __init__(self, seed: int, replication: int) -> None:
        self._prefix = f"{seed}\0{replication}\0"
        self._owned: dict[str, Stream] = {}

    def stream(self, name: str) -> "Stream":
        """Returns the stream called ``name``, such as ``store-2/raft-disk``.

        Raises:
            ValueError: if the name was asked for before; two owners of one stream would each see
                draws that depend on how often the other one draws.
        """
        if name in self._owned:
            raise ValueError(
                f"stream {name!r} has an owner already; give each purpose its own name"
            )
        stream = self._owned[name] = Stream(self._prefix + name)
        return stream


class Stream:
    """An endless sequence of random numbers that belongs to one component and purpose."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._generators: dict[str, np.random.Generator] = {}
        self._size = FIRST_BLOCK
        self._uniforms: list[float] = []
        self._exponentials: list[float] = []

    def random(self) -> float:
        """Returns a uniform number in [0, 1)."""
        draws = self._uniforms
        if not draws:
            self._fill(draws, "uniform")
        return draws.pop()

    def randint(self, lo: int, hi: int) -> int:
        """Returns a whole number between ``lo`` and ``hi``, both included, each equally likely."""
        draws = self._uniforms
        if not draws:
            self._fill(draws, "uniform")
        return lo + floor(draws.pop() * (hi - lo + 1))

    def exponential(self, mean_ns: float) -> int:
        """Returns an exponential time of the given mean, rounded down to nanoseconds."""
        return floor(mean_ns * self.standard_exponential())

    def standard_exponential(self) -> float:
        """Returns an exponential number of mean 1."""
        draws = self._exponentials
        if not draws:
            self._fill(draws, "exponential")
        return draws.pop()

    def _fill(self, draws: list[float], kind: Kind) -> None:
        # Reversed, so that draws are popped in the order in which they were made: then they do not
        # depend on the sizes of blocks.
        draws.extend(self.block_of(kind, self._size)[::-1].tolist())
        self._size = min(2 * self._size, LARGEST_BLOCK)

    def block_of(self, kind: Kind, count: int) -> "np.ndarray[Any, np.dtype[np.float64]]":
        """Returns the next ``count`` standard draws of a kind, shape (count,).

        Args:
            kind: uniform in [0, 1), exponential of mean 1, or normal of mean 0 and deviation 1.
            count: how many.
        """
        generator = self._generators.get(kind)
        if generator is None:
            digest = blake2b(f"{self._key}\0{kind}".encode(), digest_size=32).digest()
            # numpy's stubs know SeedSequence only; its documentation allows any ISeedSequence.
            state = PCG64(_Digest(digest))  # type: ignore[arg-type]
            generator = np.random.Generator(state)
            self._generators[kind] = generator
        if kind == "uniform":
            return generator.random(count)
        if kind == "exponential":
            return generator.standard_exponential(count)
        return generator.standard_normal(count)


class _Digest(ISeedSequence):
    """Gives a bit generator a digest as its seed.

    numpy's own ``SeedSequence`` would hash it once more, which makes a stream cost 9 us, not 1.3.
    """

    def __init__(self, digest: bytes) -> None:
        self._digest = digest

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        """Returns the first ``n_words`` words of the digest."""
        return np.frombuffer(self._digest, dtype=dtype, count=n_words).copy()
