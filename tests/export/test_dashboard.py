"""The Grafana dashboard asks for what exports hold: each query is put to a real Prometheus."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from analysis.export.openmetrics import START_S, write_metrics
from analysis.export.pessim_families import PESSIM_FAMILIES
from analysis.export.tikv_families import TIKV_FAMILIES
from tests.export.small_study import read_finished
from tests.export.test_prometheus import PROGRAMS, Queries, prometheus

FILE: Final = Path(__file__).resolve().parents[2] / "docs" / "grafana" / "pessim.json"
DASHBOARD: Final[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
PANELS: Final = [panel for panel in DASHBOARD["panels"] if panel["type"] == "timeseries"]
QUERIES: Final = [(panel["title"], target) for panel in PANELS for target in panel["targets"]]
SELDOM: Final = {"Region error OPS", "Deadlocks"}
"""Panels of what does not happen in the small study: nothing is shown, and nothing is wrong."""
VARIABLES: Final = {"study": ".*", "variant": ".*", "range": "600ms"}
END_S: Final = START_S + 0.8


def asked(expression: str) -> str:
    """Returns an expression with the variables filled in, as Grafana does it."""
    return re.sub(r"\$(\w+)", lambda found: VARIABLES[found[1]], expression)


@pytest.fixture(scope="module", name="served")
def served_study(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Queries]:
    if any(shutil.which(program) is None for program in PROGRAMS):
        pytest.skip("promtool or prometheus is missing: apt-get install prometheus")
    scratch = tmp_path_factory.mktemp("dashboard")
    for path in write_metrics(read_finished(finished), scratch):
        words = ["promtool", "tsdb", "create-blocks-from", "openmetrics", str(path)]
        subprocess.run([*words, str(scratch / "data")], capture_output=True, check=True)
    with prometheus(scratch / "data") as queries:
        yield queries


@pytest.mark.parametrize(("title", "target"), QUERIES)
def test_a_panel_shows_something(served: Queries, title: str, target: dict[str, str]) -> None:
    found = served.values(asked(target["expr"]), END_S)
    assert bool(found) == (title not in SELDOM)
    assert all(math.isfinite(value) and value >= 0 for value in found.values())
    wanted = re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])
    assert all(set(wanted) <= set(dict(labels)) for labels in found)


def test_the_variables_find_study_and_variants(served: Queries) -> None:
    names = {name: {dict(labels)[name] for labels in served.values("pessim_replication", END_S)}
             for name in ("study", "variant")}  # fmt: skip
    assert names == {"study": {"small"}, "variant": {"pipelined", "in_memory"}}
    queries = [
        each["query"]["query"]
        for each in DASHBOARD["templating"]["list"]
        if each["type"] == "query"
    ]
    assert all("label_values(pessim_replication" in query for query in queries)


def test_a_variant_is_chosen_for_every_panel() -> None:
    for _, target in QUERIES:
        selectors = re.findall(r"\{([^{}]*)\}", target["expr"])
        assert selectors
        assert all('study=~"$study",variant=~"$variant"' in each for each in selectors)


def test_every_name_is_one_that_exports_write_and_every_tikv_name_has_a_panel() -> None:
    known = {family.name for family in (*TIKV_FAMILIES, *PESSIM_FAMILIES)}
    known |= {"pessim_warmup", "pessim_replication"}
    names = {
        name
        for _, target in QUERIES
        for name in re.findall(r"\b(?:tikv|tidb|pessim)_\w+", target["expr"])
    }
    used = {name if name in known else re.sub(r"_(bucket|sum|count)$", "", name) for name in names}
    assert used <= known
    unused = {family.name for family in TIKV_FAMILIES} - used
    assert unused == {"tikv_storage_mvcc_conflict_counter"}


def test_panels_have_places_of_their_own() -> None:
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    places = [panel["gridPos"] for panel in DASHBOARD["panels"]]
    taken = [
        (at["x"] + x, at["y"] + y) for at in places for x in range(at["w"]) for y in range(at["h"])
    ]
    assert len(taken) == len(set(taken))
    assert max(x for x, _ in taken) < 24
