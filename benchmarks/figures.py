"""Every figure that the documents give, from the studies that they are of, in one command.

``python -m benchmarks figures`` runs each study of ``figure_studies.STUDIES`` whose figures are of
another model, and as soon as one is done writes its numbers, tables, quotations and pictures into
the documents, and the digest into ``docs/figures.json``. Stopped, it goes on where it was: what is
up to date is not run again, and units that are done are kept in ``results/figures``. Sentences are
people's: what changed is printed, to be read again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any, Final

from benchmarks.documents import DOCUMENTS, ROOT, Block, blocks, lines_in_words
from benchmarks.figure_marks import Mark, TableMark, marks, quoted_again, with_numbers, with_tables
from benchmarks.figure_readings import ReadingError, read
from benchmarks.figure_studies import STUDIES, Study, digest, put_files

FOLDER: Final = ROOT / "results" / "figures"
RECORD: Final = ROOT / "docs" / "figures.json"
PICTURES: Final = ROOT / "docs" / "img"
_AT_ONCE: Final = 2
"""Studies: one's units run while the other starts Spark, sums up and draws."""
_WRITING: Final = Lock()
"""Held by whoever writes documents and record."""
_WIDE: Final = "100"
"""Columns of the terminal: at 80 ratios are a table of their own."""
_SHOWN_PX: Final = (1010, 770)


class FiguresError(RuntimeError):
    """A study whose figures cannot be written, and why."""


def main() -> int:
    """Brings the documents up to date; 1 if a person has to quote a line, 3 if a study failed."""
    asked = _arguments()
    unknown = [name for name in asked.only if name not in STUDIES]
    if unknown:
        print(f"no study {unknown[0]!r}; there are: {', '.join(STUDIES)}", file=sys.stderr)
        return 2
    begun_s = time.perf_counter()
    put_files(FOLDER, sorted({study.document for study in STUDIES.values() if study.document}))
    stale = [name for name in STUDIES if name in asked.only or not (asked.only or is_current(name))]
    missing: dict[str, int | None] = {}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        begun = [pool.submit(_refresh_all, chain) for chain in _chains(stale)]
        try:
            for chain in begun:
                missing |= chain.result()
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            raise
    failed = [name for name in stale if missing[name] is None]
    print(f"{time.perf_counter() - begun_s:.0f} s; failed: {', '.join(failed) or 'none'}")
    return 3 if failed else int(any(missing.values()))


def _chains(names: Iterable[str]) -> list[list[str]]:
    """Returns the studies, those of one document together: each goes on from the one before."""
    chains: dict[str, list[str]] = {}
    for name in names:
        chains.setdefault(STUDIES[name].document or name, []).append(name)
    return list(chains.values())


def _refresh_all(chain: Sequence[str]) -> dict[str, int | None]:
    """Refreshes studies in their order; returns for how many lines each needs a person.

    None: it failed, which is printed.
    """
    missing: dict[str, int | None] = {}
    for name in chain:
        try:
            missing[name] = _refresh(name, STUDIES[name])
        except (FiguresError, OSError) as error:
            print(f"{name}: {error}", file=sys.stderr)
            missing[name] = None
    return missing


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks figures", description=__doc__)
    parser.add_argument(
        "--only",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME",
        help=f"these, up to date or not, of: {', '.join(STUDIES)}",
    )
    return parser.parse_args()


def recorded() -> dict[str, Any]:
    """Returns by study its ``digest``, ``figures`` and ``pictures``, as last written."""
    if not RECORD.exists():
        return {}
    record: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return record


def wanted(name: str) -> list[str]:
    """Returns the readings of a study that the documents ask for."""
    asked = {
        mark.reading
        for document in DOCUMENTS
        for mark in marks(document.read_text(encoding="utf-8"))
        if mark.study == name
    }
    return sorted(asked)


def is_current(name: str) -> bool:
    """Returns whether all that the documents ask of a study was written, and of this model."""
    said = recorded().get(name, {})
    study = STUDIES[name]
    asked = {*wanted(name), *(f"table {table}" for table in study.tables)}
    return said.get("digest") == digest(study, FOLDER) and asked <= set(said["figures"])


def _refresh(name: str, study: Study) -> int:
    """Runs a study and writes its figures; returns for how many lines a person is needed."""
    begun_s = time.perf_counter()
    printed = "".join(_run(words) for words in study.words_run())
    with _WRITING:
        print(f"{name}: {'; '.join(study.commands)}: {time.perf_counter() - begun_s:.0f} s")
        missing = _write(name, study, printed)
        sys.stdout.flush()
    return missing


def _write(name: str, study: Study, printed: str) -> int:
    """Writes a study's figures; returns for how many lines a person is needed."""
    figures, refused = _figures(name, study)
    for reason in refused:
        print(f"  no figure: {reason}")
    for line in printed.splitlines():
        if line.endswith(("DOES NOT HOLD", "NOT SHOWN")):
            print(f"  {line}")
    missing = len(refused) + _write_documents(name, figures, printed)
    for picture, file in study.pictures.items():
        _write_picture(picture, FOLDER / "results" / study.results / file)
    record = recorded()
    pictures = {picture: picture_digest(picture) for picture in study.pictures}
    record[name] = {
        "digest": "" if refused else digest(study, FOLDER),
        "figures": figures,
        "pictures": pictures,
    }
    ordered = {each: record[each] for each in STUDIES if each in record}
    RECORD.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return missing


def _write_documents(name: str, figures: Mapping[str, str], printed: str) -> int:
    """Writes figures and quotations; returns how many quoted lines were not printed this time."""
    missing = 0
    for document in DOCUMENTS:
        before = document.read_text(encoding="utf-8")
        after = with_figures(before, name, figures)
        for quotation in quotations(document, STUDIES[name]):
            fresh, lost = quoted_again(quotation.text, printed)
            after = after.replace(f"```\n{quotation.text}```", f"```\n{fresh}```", 1)
            lost = [line for line in lost if not line.startswith("report:")]
            missing += len(lost)
            for line in lost:
                print(f"  {quotation}: not printed any more: {line.strip()}")
        for old, new in zip(marks(before), marks(after), strict=True):
            if old != new:
                print(f"  {document.name}: {new.reading}: {old.text} -> {new.text}")
        if after != before:
            document.write_text(after, encoding="utf-8")
    return missing


def _run(words: list[str]) -> str:
    """Runs one command, of the program or (``-m``) of these measurements; returns what it printed.

    A claim that does not hold (exit 1) is a figure as well.
    """
    environment = os.environ | {"COLUMNS": _WIDE, "PYTHONHASHSEED": "0", "PYTHONPATH": str(ROOT)}
    program = [] if words[0] == "-m" else [str(ROOT / "run_sim.py")]
    done = subprocess.run(
        [sys.executable, *program, *words],
        cwd=FOLDER,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise FiguresError(f"exit {done.returncode}: {done.stdout.strip()[-400:]}")
    return done.stdout


def _figures(name: str, study: Study) -> tuple[dict[str, str], list[str]]:
    """Returns by reading, and by table, what is to be written; and why others cannot be."""
    readings = {reading: partial(read, reading=reading) for reading in wanted(name)}
    of_all = readings | {f"table {each}": table for each, table in study.tables.items()}
    if not of_all:
        return {}, []
    file = FOLDER / "results" / study.results / "summary.json"
    summary = json.loads(file.read_text(encoding="utf-8"))
    said: dict[str, str] = {}
    refused: list[str] = []
    for each, text_of in of_all.items():
        try:
            said[each] = text_of(summary)
        except ReadingError as error:
            refused.append(str(error))
    return said, refused


def with_figures(document: str, name: str, figures: Mapping[str, str]) -> str:
    """Returns a document with a study's numbers and tables in their places."""

    def number(mark: Mark) -> str:
        return figures.get(mark.reading, mark.text) if mark.study == name else mark.text

    def table(mark: TableMark) -> str:
        return figures.get(f"table {mark.name}", mark.text)

    return with_tables(with_numbers(document, number), table)


def quotations(document: Path, study: Study) -> Iterator[Block]:
    """Yields the blocks of a document that quote what a study's commands print."""
    inside = blocks(document)
    for block, after in pairwise(inside):
        if block.language == "sh" and not after.language and _commands(block) == study.words():
            yield after


def _commands(block: Block) -> list[list[str]]:
    """Returns the words after ``run_sim.py`` of each line of a block."""
    lines = lines_in_words(block)
    return [words[words.index("run_sim.py") + 1 :] for words in lines if "run_sim.py" in words]


def picture_digest(name: str) -> str:
    """Returns the digest of a picture of the documents."""
    return hashlib.sha256((PICTURES / name).read_bytes()).hexdigest()[:16]


def _write_picture(name: str, source: Path) -> None:
    if source.suffix != ".html":
        (PICTURES / name).write_bytes(source.read_bytes())
        return
    width, height = _SHOWN_PX
    command = [
        "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
        f"--window-size={width},{height}", f"--user-data-dir={FOLDER / 'browser'}",
        f"--screenshot={PICTURES / name}", source.resolve().as_uri(),
    ]  # fmt: skip
    try:
        subprocess.run(command, capture_output=True, timeout=400, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise FiguresError(f"{name} needs chromium (.ci/test_tools.sh): {error}") from error


if __name__ == "__main__":
    sys.exit(main())
