"""Spark for as long as a command needs it, and what is said when it fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from analysis.cli.failures import CommandError, ExitStatus
from analysis.pipeline.session import SparkStarter, SparkStartError, stop_spark
from analysis.pipeline.spark_jobs import SparkJobError


@contextmanager
def spark(master: str, *, shares_folder: bool = True) -> Iterator[SparkStarter]:
    """Gives what starts Spark when it is needed, and stops it in the end.

    Args:
        master: of Spark.
        shares_folder: whether executors see the folders of this process.

    Raises:
        CommandError: if Spark fails, or a file cannot be written: a full disk, most often.
    """
    starter = SparkStarter(master, shares_folder=shares_folder)
    try:
        yield starter
    except (SparkStartError, SparkJobError) as error:
        raise CommandError(str(error), ExitStatus.UNITS_FAILED) from error
    except BrokenPipeError:  # of who reads what is printed
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        message = (
            f"{where}{error.strerror or error}; units that are done are kept, the same command"
        )
        raise CommandError(f"{message} continues", ExitStatus.UNITS_FAILED) from error
    finally:
        stop_spark(starter)
