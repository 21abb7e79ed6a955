"""An oracle is worth as much as the mistakes it finds: planted ones must be caught."""

from collections.abc import Callable
from typing import TypeVar

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.errors import NoSuchExample
from hypothesis.strategies import SearchStrategy

Example = TypeVar("Example")


def must_be_caught(
    strategy: SearchStrategy[Example], check: Callable[[Example], None], *, examples: int = 2000
) -> None:
    """Fails unless some example makes ``check`` of a mutant raise."""

    def is_caught(example: Example) -> bool:
        try:
            check(example)
        except (AssertionError, KeyError, IndexError):
            return True
        return False

    options = settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    try:
        find(strategy, is_caught, settings=options)
    except NoSuchExample as error:
        raise AssertionError("the planted mistake went unnoticed") from error
