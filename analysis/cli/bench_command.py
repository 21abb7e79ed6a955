"""``bench``: the simulator's own speed, as JSON.

Every module of ``benchmarks`` with a ``measure()`` gives some of the figures; each runs in a
process of its own, so that none warms caches or fills memory for the next.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

from analysis.cli.console import messages, output, say
from analysis.cli.exit_status import ExitStatus

ROOT: Final = Path(__file__).resolve().parents[2]
_CALL: Final = "import json; from benchmarks.{name} import measure; print(json.dumps(measure()))"


def bench_command(json_file: Path | None) -> int:
    """Measures everything, prints the JSON, and writes it if asked; 3 if something failed."""
    figures: dict[str, float | bool] = {}
    failed = False
    for name in measuring_modules():
        say(messages(), f"bench: {name}")
        call = [sys.executable, "-c", _CALL.format(name=name)]
        said = subprocess.run(call, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
        if said.returncode:
            failed = True
            say(messages(), f"bench: {name} failed")
        else:
            figures |= json.loads(said.stdout.splitlines()[-1])
    text = json.dumps(figures, indent=1)
    say(output(), text)
    if json_file is not None:
        json_file.write_text(text + "\n", encoding="utf-8")
    return ExitStatus.UNITS_FAILED if failed else ExitStatus.FINE


def measuring_modules() -> list[str]:
    """Returns the names of the modules of ``benchmarks`` that define ``measure``."""
    files = sorted((ROOT / "benchmarks").glob("*.py"))
    return [file.stem for file in files if "\ndef measure(" in file.read_text(encoding="utf-8")]
