"""One Spark session for many commands of this process, each of which would start its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from analysis.pipeline.session import SparkStarter


@contextmanager
def sharing(starter: SparkStarter) -> Iterator[None]:
    """Gives whatever would start a session the one that is there."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("analysis.cli.spark", "analysis.running.run_study"):
            patch.setattr(f"{module}.SparkStarter", lambda *_, **__: starter)
            patch.setattr(f"{module}.stop_spark", lambda _: None)
        yield
