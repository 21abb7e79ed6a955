"""YAML in the documents can be loaded, links lead somewhere, pictures are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from analysis.study.load import load_study
from benchmarks.documents import DOCUMENTS, ROOT, Block, blocks, written_files

SNIPPETS = [
    block for document in DOCUMENTS for block in blocks(document) if block.language == "yaml"
]
FINE = {
    "about": "about: Is it fine?\n",
    "workload": "workload: {kind: tpcc, warehouses: 10, threads: 5}\n",
    "compare": "compare: {a: {}, b: {tikv.pessimistic-txn.in-memory: false}}\n",
}
LINKS = [
    (document, found[1])
    for document in DOCUMENTS
    for found in re.finditer(
        r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", document.read_text("utf-8"), flags=re.DOTALL)
    )
    if not found[1].startswith(("http:", "https:"))
]


@pytest.mark.parametrize("snippet", SNIPPETS, ids=str)
def test_yaml_is_a_scenario_or_a_section_of_one(snippet: Block, tmp_path: Path) -> None:
    for name, text in written_files(snippet.document).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    keys = yaml.safe_load(snippet.text)
    assert isinstance(keys, dict)
    lacking = [] if "extends" in keys else [text for key, text in FINE.items() if key not in keys]
    path = tmp_path / "snippet.yaml"
    path.write_text(snippet.text + "".join(lacking), encoding="utf-8")
    if "# typo.yaml" not in snippet.text:
        assert load_study(path).variants


def anchors(document: Path) -> set[str]:
    """Returns the anchors that a forge gives a document's headings."""
    text = re.sub(r"```.*?```", "", document.read_text("utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {each.replace(" ", "-") for each in plain}


@pytest.mark.parametrize(("document", "target"), LINKS)
def test_a_link_leads_somewhere(document: Path, target: str) -> None:
    file, _, anchor = target.partition("#")
    there = (document.parent / file).resolve() if file else document
    assert there.exists(), f"there is no {target}"
    assert there.is_relative_to(ROOT)
    if anchor:
        assert anchor in anchors(there), f"there is no heading {anchor}"


PATHS = [
    (document, found[1])
    for document in DOCUMENTS
    for found in re.finditer(
        r"`((?:sim|analysis|tests|benchmarks|scenarios|docs)/[\w./*-]+)`",
        document.read_text("utf-8"),
    )
]


@pytest.mark.parametrize(
    ("document", "path"), PATHS, ids=[f"{document.name}:{path}" for document, path in PATHS]
)
def test_paths_of_the_repository_exist(document: Path, path: str) -> None:
    assert list(ROOT.glob(path.rstrip("/"))), f"{document.name} names {path}, which is not there"
