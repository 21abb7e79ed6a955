"""Options, profiles and groups that all tests share."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Final

import pytest
from hypothesis import settings

from analysis.pipeline.session import SparkStarter, stop_spark
from tests.cli.stub_runs import rows, run_here
from tests.spark.sharing import sharing

gc.disable()  # Until all tests are known: what is imported until then stays.

settings.register_profile("ci", derandomize=True, deadline=None, print_blob=False)
settings.load_profile("ci")

DEAR: Final = ("starter", "finished")
"""Fixtures of the session that cost so much that one process runs all tests that use them."""

GARBAGE: Final = 200_000
"""Objects that may refer to others, made and not given up since the last search for cycles."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds ``--rewrite``: expectations become what the code says."""
    parser.addoption("--rewrite", action="store_true", help="rewrite what tests expect")


def pytest_configure(config: pytest.Config) -> None:
    """Names the marker of groups, which only a run in several processes would know."""
    config.addinivalue_line("markers", "xdist_group(name): one process runs all of a group")


@pytest.hookimpl(tryfirst=True)  # Before pytest-xdist reads the groups.
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Says which tests one process runs when several do: those of a file or of a dear fixture.

    Groups with long tests come first, so that no process waits for another in the end; the longest
    of them is that of the shared session.
    """
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        dear = [name for name in DEAR if name in fixtures]
        group = dear[0] if dear else f"{item.path.parent.name}/{item.path.stem}"
        item.add_marker(pytest.mark.xdist_group(group))
        groups.setdefault(group, []).append(item)
    long = {name for name, group in groups.items() if any(map(_is_long, group))}
    in_order = sorted(groups, key=lambda name: (name != "starter", name not in long))
    items[:] = [item for name in in_order for item in groups[name]]


def _is_long(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(name) for name in ("spark", "slow"))


def pytest_collection_finish() -> None:
    """Switches the search for cycles off, which would cost a unit that is simulated a third."""
    gc.collect()
    gc.freeze()
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Searches where a test has left much."""
    if gc.get_count()[0] > GARBAGE:
        gc.collect()


@pytest.fixture
def rewrite(request: pytest.FixtureRequest) -> bool:
    """Returns whether expectations are to be rewritten."""
    return bool(request.config.getoption("--rewrite"))


@pytest.fixture
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives no point figures of its own, as in a study of too many: for tests of other things."""
    monkeypatch.setattr("analysis.pipeline.study_tables.FIGURE_POINTS", 0)


@pytest.fixture(scope="session")
def starter() -> Iterator[SparkStarter]:
    """Returns the session that tests share: on ``local[1]``, as a study would start it."""
    begun = SparkStarter("local[1]")
    yield begun
    stop_spark(begun)


@pytest.fixture(scope="module")
def shared_session(starter: SparkStarter) -> Iterator[None]:
    """Lets the tests of a file share the session."""
    with sharing(starter):
        yield


@pytest.fixture(scope="session")
def undisturbed(starter: SparkStarter, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Returns the rows of the stub's study, run on one core, with nothing that gets in its way."""
    out = tmp_path_factory.mktemp("undisturbed") / "study"
    with sharing(starter):
        run_here(out)
    return rows(out)
