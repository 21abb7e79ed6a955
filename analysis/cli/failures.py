"""What a command that works in a study's folder says when it cannot go on, and its exit status."""

from __future__ import annotations

from collections.abc import Callable

from analysis.cli.console import messages, say
from analysis.cli.exit_status import ExitStatus
from analysis.pipeline.job_failure import SparkJobError
from analysis.pipeline.session import SparkStarter, SparkStartError, stop_spark
from analysis.study.study_folder import StudyFolderError


def with_failures_reported(starter: SparkStarter, work: Callable[[], int]) -> int:
    """Returns what ``work`` returns; a failure is one line of text. Spark is stopped in the end."""
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
    """Returns the line about a file that could not be written: a full disk, most often."""
    where = f"{error.filename}: " if error.filename else ""
    reason = error.strerror or error
    return f"{where}{reason}; units that are done are kept, the same command continues"
