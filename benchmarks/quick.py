"""The quick figures of the simulator's speed: what they are, and which module measures each.

Each module runs in a process of its own, so that none warms caches or fills memory for the next. A
module's ``measure(tiny=...)`` returns figures by name; text in place of a figure is the reason why
there is none. Figures that are not among ``KEYS`` are printed only.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]

Figure = float | bool | str
Found = dict[str, Figure]

KEYS: Final = {
    "kernel_speedup": "CPU time of Model M in textbook SimPy / on Pessim's engine",
    "kernel_hash_equal": "both give the same SHA-1 over every latency",
    "kernel_over_cpp": "CPU time of Model M on Pessim's engine / in C++",
    "events_per_txn": "queue entries a TPC-C transaction",
    "events_of_many_stores": "queue entries a transaction on 99 stores / on three",
    "txn_per_cpu_s": "TPC-C transactions simulated per CPU second",
    "compiled_speedup": "CPU time of a unit interpreted / compiled",
    "compiled_facts_equal": "a compiled unit leaves the same facts",
    "quickstart_cpu_s": "CPU seconds of the whole command for quickstart.yaml",
    "rfc77_answer_cpu_s": "CPU seconds of the command that gives rfc77's two ratios to 2 %",
    "study_fixed_cpu_s": "CPU seconds of that command beside its units",
    "spark_over_pool": "time of units through Spark / in a process pool",
    "two_unit_scaling": "throughput of two units at once / of one",
    "unit_memory_mib": "peak memory of the process of one unit",
    "swarm_seeds_per_cpu_min": "seeds of the swarm that a minute of CPU takes",
    "spark_start_s": "seconds until a Spark session is there",
    "spark_first_query_s": "seconds of its first query",
}
"""What ``bench --json`` writes, each with its meaning."""

MORE: Final = {
    "naive_events_per_txn": "events of Model M in textbook SimPy, a transaction",
    "lean_events_per_txn": "queue entries of Model M on Pessim's engine, a transaction",
    "txn_per_cpu_s_median": "the same as txn_per_cpu_s, median instead of best slice",
    "two_unit_scaling_cpu": "the same as two_unit_scaling, by CPU time",
    "cpu_of_many_stores": "CPU time of a transaction on 99 stores / on three",
    "explain_cpu_s": "CPU seconds of explain for rfc77.yaml",
    "rfc77_answer_s": "seconds of the command that gives rfc77's two ratios",
    "rfc77_answer_width": "the wider half width of the two ratios, as a share",
}
"""Further figures, which are printed only."""

MODULES: Final = {
    "kernel": ("kernel_speedup", "kernel_hash_equal", "kernel_over_cpp"),
    "transactions": ("events_per_txn", "txn_per_cpu_s"),
    "stores": ("events_of_many_stores",),
    "compiled": ("compiled_speedup", "compiled_facts_equal"),
    "scaling": ("two_unit_scaling",),
    "memory": ("unit_memory_mib",),
    "swarm": ("swarm_seeds_per_cpu_min",),
    "commands": ("quickstart_cpu_s", "rfc77_answer_cpu_s", "study_fixed_cpu_s"),
    "spark": ("spark_start_s", "spark_first_query_s", "spark_over_pool"),
}
"""By module: the keys that it gives."""

FAILED: Final = "failed:"
"""How the reason begins if a measurement ended with an error."""
_CALL: Final = (
    "import json; from benchmarks.{module} import measure; print(json.dumps(measure(tiny={tiny})))"
)


def measured(*, tiny: bool = False) -> Iterator[Found]:
    """Yields what each module has found, as it comes; in the end there is something for each key.

    A module that fails gives no figures, only the last line that it complained with.

    Args:
        tiny: small sizes, whose figures mean nothing: for the test that all of this runs.
    """
    for module, keys in MODULES.items():
        call = [sys.executable, "-c", _CALL.format(module=module, tiny=tiny)]
        said = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False)
        if said.returncode:
            complaint = said.stderr.strip().rpartition("\n")[2] or f"status {said.returncode}"
            yield dict.fromkeys(keys, f"{FAILED} {complaint}")
        else:
            yield json.loads(said.stdout.splitlines()[-1])


def document(found: Found) -> dict[str, Any]:
    """Returns what ``--json`` writes: every key, null where ``reasons`` says why."""
    reasons = {key: found[key] for key in KEYS if isinstance(found[key], str)}
    figures = {key: None if key in reasons else found[key] for key in KEYS}
    return {**figures, "reasons": reasons}


def line_of(key: str, figure: Figure) -> str:
    """Returns a figure as a line of text, with its meaning."""
    meaning = (KEYS | MORE)[key]
    if isinstance(figure, str):
        return f"{key:23}     none  {meaning}: {figure}"
    return f"{key:23} {str(figure).lower():>8}  {meaning}"
