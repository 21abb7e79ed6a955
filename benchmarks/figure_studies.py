"""The studies whose figures stand in the documents, and of which model those figures are.

**Which model.** A study's digest is taken over its resolved scenario, every constant and profile
value included, and over the golden summaries in ``tests/golden``, whose digests of facts change as
soon as the model does anything else. It is not taken over source text: a comment that is changed
makes no figure stale. What only code for a report changes is not seen.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final

from analysis.study.load import load_study
from analysis.study.study import Study as AskedStudy
from analysis.validation.figures import STUDIES as ANCHOR_STUDIES
from analysis.validation.figures import file_of
from benchmarks import explain_errors
from benchmarks.documents import ROOT, written_files
from benchmarks.estimate_beside import SCENARIOS
from benchmarks.figure_tables import Screening, Table, TableOf

GOLDEN: Final = ROOT / "tests" / "golden"
_PAGE: Final = "report.html"


@dataclass(frozen=True, slots=True)
class Study:
    """Commands, as a document gives them, and what is made of their results.

    Attributes:
        commands: each as it is typed after ``run_sim.py``, or after ``python`` if it begins with
            ``-m``; they are run in one folder, in the order of all studies.
        results: the folder in ``results`` that figures are read from.
        document: whose shown files the commands find.
        pictures: name in ``docs/img``: file in the folder; a page is shown as its beginning.
        tables: by name.
        finds: scenario files that the commands find by themselves.
    """

    commands: tuple[str, ...]
    results: str = ""
    document: str = ""
    pictures: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[str, TableOf] = field(default_factory=dict)
    finds: tuple[Path, ...] = ()

    def words(self) -> list[list[str]]:
        """Returns the words of each command."""
        return [shlex.split(command) for command in self.commands]

    def words_run(self) -> list[list[str]]:
        """Returns the words of each command, without the work of which no figure is made.

        Invariants are not checked, and pictures not drawn unless one is shown. What a document
        walks through, and a page that is shown, is run as it is typed.
        """
        if self.document or _PAGE in self.pictures.values():
            return self.words()
        spared = {"--no-checks"} if self.pictures else {"--no-checks", "--no-plots"}
        return [
            [*words, *sorted(spared - {*words})] if words[0].endswith(".yaml") else words
            for words in self.words()
        ]


def _shop(results: str, *commands: str) -> Study:
    return Study(commands, results, "docs/TUTORIAL.md")


def _shipped(
    name: str,
    folder: str = "scenarios",
    *,
    pictures: Mapping[str, str] | None = None,
    tables: Mapping[str, TableOf] | None = None,
) -> Study:
    return Study((f"{folder}/{name}.yaml",), name, "", pictures or {}, tables or {})


_MODES: Final = {
    "sync": "sync ±",
    "pipelined": "pipelined ±",
    "in memory": "in_memory ±",
    "in memory / pipelined": "in_memory/pipelined []",
}

_RFC77_TABLE: Final = Table(
    columns=_MODES,
    rows={
        "lock latency, mean (ms)": "lock_latency_ms",
        "disk writes per transaction (KiB)": "disk_write_bytes_per_txn KiB",
        "transactions (1/s)": "txn_per_s",
        "disk writes (MB/s)": "disk_write_bytes_per_s MB",
    },
)

_BY_THREADS: Final = Table(
    corner="threads",
    columns={
        threads: f"threads={threads} in_memory/pipelined"
        for threads in ("10", "25", "50", "100", "200", "400")
    },
    rows={
        f"{machine}: {label}": f"profile={machine} {words}"
        for machine in ("gp3_max", "i3.4xlarge")
        for label, words in (
            ("lock latency", "lock_latency_ms []"),
            ("transactions/s", "txn_per_s ratio"),
        )
    },
)

_BY_TRANSFERS: Final = Table(
    corner="transfers a second asked for",
    columns={
        "lock latency, p99 (ms): pipelined": "lock_latency_ms.p99 pipelined ±",
        "in memory": "lock_latency_ms.p99 in_memory ±",
        "ratio": "lock_latency_ms.p99 in_memory/pipelined []",
        "transaction latency, mean (ms): pipelined": "txn_latency_ms pipelined ±",
        "likewise in memory": "txn_latency_ms in_memory ±",
    },
    rows={str(rate): f"rate={rate}/s" for rate in (1, 10, 30, 100)},
)

_SYSBENCH: Final = Table(
    corner="workload",
    columns={
        f"{name}, {threads} threads": f"threads={threads} {words}"
        for name, words in (("transactions/s", "txn_per_s ±"), ("p95 (ms)", "txn_latency_ms.p95 ±"))
        for threads in (300, 600, 900)
    },
    rows={
        f"`{kind}`": f"kind={kind} in_memory"
        for kind in (
            "oltp_read_only", "oltp_read_write", "oltp_write_only", "oltp_update_index",
            "oltp_insert", "oltp_delete",
        )
    },
)  # fmt: skip

_SCREENING: Final = Screening(
    outcomes=("lock latency, mu\\*", "disk bytes per transaction, mu\\*"),
    scenario=ROOT / "scenarios" / "sensitivity_rfc77.yaml",
)

_COOKBOOK: Final = (
    "cloud_volume", "raft_log_volume", "io_threads", "three_zones", "fair_locking",
    "few_warehouses", "slow_disk", "commit_phases", "five_replicas", "more_stores",
)  # fmt: skip

_FIXED_RATE: Final = Table(
    corner="700 transactions a second",
    columns=_MODES,
    rows={
        "disk writes per transaction (KiB)": "disk_write_bytes_per_txn KiB",
        "disk writes (MB/s)": "disk_write_bytes_per_s MB",
    },
)

STUDIES: Final[Mapping[str, Study]] = {
    "capacity_gp3_vs_nvme": _shipped(
        "capacity_gp3_vs_nvme",
        pictures={"capacity_probability.png": "plots/capacity_probability.png"},
    ),
    "rfc77_map": _shipped(
        "rfc77_map",
        pictures={
            "map_lock_latency.png": "plots/map_lock_latency.png",
            "map_disk_bytes_per_txn.png": "plots/map_disk_bytes_per_txn.png",
        },
    ),
    "sensitivity_rfc77": Study(
        ("scenarios/sensitivity_rfc77.yaml --no-checks",),
        "sensitivity_rfc77",
        tables={"screening": _SCREENING},
    ),
    "validation": Study(
        ("validate --write",),
        "validation",
        finds=tuple(map(file_of, ANCHOR_STUDIES)),
    ),
    "sysbench_workloads": _shipped(
        "sysbench_workloads", "scenarios/validation", tables={"sysbench_workloads": _SYSBENCH}
    ),
    "sweep_threads": _shipped(
        "sweep_threads",
        pictures={"sweep_threads_p99.png": "plots/sweep_lock_latency_p99.png"},
        tables={"sweep_threads": _BY_THREADS},
    ),
    "rfc77": Study(
        ("scenarios/rfc77.yaml",),
        "rfc77",
        pictures={
            "rfc77_lock_latency.png": "plots/lock_latency.png",
            "report_rfc77.png": _PAGE,
        },
        tables={"rfc77": _RFC77_TABLE},
    ),
    "rfc77_fixed_rate": _shipped("rfc77_fixed_rate", tables={"rfc77_fixed_rate": _FIXED_RATE}),
    "quickstart": Study(("scenarios/quickstart.yaml",), "quickstart"),
    "shop_explained": _shop("", "explain shop.yaml"),
    "shop": _shop("shop", "shop.yaml"),
    "shop_status": _shop("", "status results/shop"),
    "shop_precise": _shop(
        "shop",
        "shop.yaml --replications 5",
        'shop.yaml --set "run.precision={lock_latency_ms: 2%}" --out results/shop',
    ),
    "shop_capacity": _shop("shop_capacity", "shop_capacity.yaml"),
    "shop_nvme": _shop(
        "shop_nvme",
        "shop.yaml --set hardware.profile=i3.4xlarge --out results/shop_nvme",
        "diff results/shop results/shop_nvme",
    ),
    **{name: _shipped(name, "scenarios/cookbook") for name in _COOKBOOK},
    **{
        name: _shipped(name)
        for name in ("crash", "leader_transfer", "split_merge", "shuffle_leader", "hot_region_full")
    },
    "sweep_transfer_rate": _shipped(
        "sweep_transfer_rate", tables={"sweep_transfer_rate": _BY_TRANSFERS}
    ),
    "evict_leader": _shipped(
        "evict_leader", pictures={"evict_leader_over_time.png": "plots/over_time.png"}
    ),
    "transfer_fails": _shipped(
        "transfer_fails", pictures={"transfer_fails_over_time.png": "plots/over_time.png"}
    ),
    "moves_under_contention": _shipped(
        "moves_under_contention",
        pictures={"moves_under_contention_over_time.png": "plots/over_time_0.png"},
    ),
    "full_disk": _shipped(
        "full_disk", pictures={"full_disk_over_time.png": "plots/over_time_1.png"}
    ),
    "rfc77_nvme": _shipped("rfc77_nvme"),
    "tpcc_i3_4xlarge": _shipped("tpcc_i3_4xlarge"),
    "explain_errors": Study(
        ("-m benchmarks explain_errors",),
        explain_errors.RESULTS,
        tables={"explain_errors": explain_errors.table_of},
        finds=tuple(sorted(SCENARIOS.glob("*.yaml"))),
    ),
}
"""In the order in which they are run: the longest first, so that none is left alone at the end; a
later one of a document may go on from an earlier one's results."""


def digest(study: Study, folder: Path) -> str:
    """Returns the digest of the model and of the question that a study's figures are of.

    Args:
        study: whose.
        folder: for the scenario files that its document shows.
    """
    said = hashlib.sha256()
    for golden in sorted(GOLDEN.glob("*.txt")):
        said.update(golden.read_bytes())
    said.update(repr(study.commands).encode())
    for asked in asked_studies(study, folder):
        said.update(asked.resolved_yaml().encode())
    return said.hexdigest()[:16]


def put_files(folder: Path, documents: Iterable[str]) -> None:
    """Writes the scenario files that documents show into a folder, beside links to the project's.

    Folders of that name that are there stay.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("scenarios", "tests", "docs", "benchmarks"):
        if not (folder / name).exists():
            (folder / name).symlink_to(ROOT / name)
    for document in documents:
        for name, text in written_files(ROOT / document).items():
            (folder / name).write_text(text, encoding="utf-8")


def asked_studies(study: Study, folder: Path) -> list[AskedStudy]:
    """Returns what the commands ask, one for each scenario file they name or find.

    Args:
        study: whose.
        folder: for the scenario files that its document shows.
    """
    if study.document:
        put_files(folder, [study.document])
    asked = []
    for words in study.words():
        overrides = [after for word, after in pairwise(words) if word == "--set"]
        files = [word for word in words if word.endswith(".yaml")]
        shown = [folder / file if (folder / file).exists() else ROOT / file for file in files]
        asked += [load_study(file, overrides) for file in shown]
    return [*asked, *map(load_study, study.finds)]
