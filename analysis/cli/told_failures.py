"""What a command that works in a study's folder says when it cannot go on, and its exit status."""

from __future__ import annotations

from collections.abc import Callable

from analysis.cli.console import messages, say
from analysis.cli.exit_status import ExitStatus
from analysis.pipeline.job_failure import SparkJobError
from analysis.pipeline.session import SparkStarter, SparkStartError, stop_spark
from analysis.study.study_folder import StudyFolderError


def told_failures(starter: SparkStarter, work: Callable[[], int]) -> int:
    """Returns what ``work`` returns; a failure is told in a line. Spark is stopped in the end."""
    try:
        return work()
    except StudyFolderError as error:
        say(messages(), str(error))
        return ExitStatus.BAD_INPUT
    except (SparkStartError, SparkJobError) as error:
        say(messages(), str(error))
        return ExitStatus.UNITS_FAILED
    except OSError as error:
        say(messages(), _not_written(error))
        return ExitStatus.UNITS_FAILED
    finally:
        stop_spark(starter)


def _not_written(error: OSError) -> str:
    """Returns what to tell of a file that could not be written: a full disk, most often."""
    where = f"{error.filename}: " if error.filename else ""
    return (
        f"{where}{error.strerror or error}; units that are done are kept, the same command goes on"
    )
