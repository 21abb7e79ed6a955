"""The JVM's end as Python hears of it: where it is meant, nobody is told."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


def ignore_hang_up(request: object, client_address: object) -> None:
    """Ignores that the JVM hung up on the server of Spark's accumulators, which nothing uses.

    When Spark stops it may do so first, and the server would print a traceback.
    """


@contextmanager
def hang_ups_ignored() -> Iterator[None]:
    """Ignores that the JVM ends while Py4J sends it something, for as long as the block lasts.

    Py4J logs a traceback then, and not to its own logger but to everybody's.
    """
    everybody = logging.getLogger()
    everybody.addFilter(_is_not_py4js)
    try:
        yield
    finally:
        everybody.removeFilter(_is_not_py4js)


def _is_not_py4js(record: logging.LogRecord) -> bool:
    return record.module != "java_gateway"
