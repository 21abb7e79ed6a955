"""What Spark's many words about a job that broke mean for the user: one cause, in one line."""

from __future__ import annotations

import re
from typing import Final

from analysis.study.unit_folder import UnitNotWrittenError

_NOT_WRITTEN: Final = re.compile(
    rf"{UnitNotWrittenError.__name__}: \[Errno (\d+|None)\] (.*?)(?:: '(.*)')?$", re.MULTILINE
)


class SparkJobError(Exception):
    """Spark gave up on a job; the message says why. Units that are done are kept."""


def not_written(text: str) -> OSError | None:
    """Returns the error that a worker had with the study's folder, from Spark's words."""
    found = _NOT_WRITTEN.search(text)
    if found is None:
        return None
    number, reason, where = found.groups()
    return OSError(int(number) if number.isdigit() else 0, reason, where or "the study's folder")


def why_job_failed(text: str) -> str:
    """Returns what a user can use of Spark's words: the cause, not where it was noticed."""
    if "PYTHON_VERSION_MISMATCH" in text:
        return (
            "the executors run another Python than this one; set PYSPARK_PYTHON to a Python of "
            "the same minor version that they have, with the packages of requirements.lock"
        )
    if "Python worker exited unexpectedly" in text:
        return "Python processes of executors ended before they had begun a unit"
    missing = re.search(r"^ModuleNotFoundError: (.*)$", text, re.MULTILINE)
    if missing:
        return f"{missing[1]} on an executor; its Python needs the packages of requirements.lock"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    return (causes or lines or ["no reason given"])[-1 if causes else 0]
