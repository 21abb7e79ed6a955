"""Options and profiles that all tests share."""

import pytest
from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None, print_blob=False)
settings.load_profile("ci")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds ``--rewrite``: expectations become what the code says."""
    parser.addoption("--rewrite", action="store_true", help="rewrite what tests expect")


@pytest.fixture
def rewrite(request: pytest.FixtureRequest) -> bool:
    """Returns whether expectations are to be rewritten."""
    return bool(request.config.getoption("--rewrite"))
