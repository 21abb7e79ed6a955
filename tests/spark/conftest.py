"""One Spark session for all tests: ``local[1]``, as a study would start it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from analysis.pipeline.session import SparkStarter, stop_spark


@pytest.fixture(scope="session")
def starter() -> Iterator[SparkStarter]:
    begun = SparkStarter("local[1]")
    yield begun
    stop_spark(begun)
