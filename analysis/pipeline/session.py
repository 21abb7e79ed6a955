"""Spark as a short study can afford it: its context, without a SQL session.

The JVM starts in a thread as soon as it is known that there is work for it. C1-only JIT, the serial
collector and a class-data archive (made at set-up, ignored by the JVM when it does not fit) take
the fixed cost from 25 s to a few on two cores. No UI, no Ivy, bound to loopback when local.
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from site import getsitepackages, getusersitepackages
from typing import TYPE_CHECKING, Final

from analysis.pipeline.compiled_model import library
from analysis.pipeline.spark_jobs import why_not_started
from analysis.pipeline.spark_master import is_local, is_on_loopback, with_attempts
from analysis.program import IMPORTED_FROM, ROOT, module
from sim.compiled import VARIABLE

if TYPE_CHECKING:
    from pyspark import SparkContext

CLASS_ARCHIVE: Final = Path(sys.prefix) / "spark-classes.jsa"
ATTEMPTS: Final = 3
"""A unit whose worker process dies is tried this often, and once more alone."""
TASK_FAILURES: Final = ATTEMPTS + 1
"""So many failures of one task break the job; a unit gives up before."""

STOP_WAIT_S: Final = 10.0
ABANDON_WAIT_S: Final = 5.0
JVM_LOG: Final = "jvm.log"

_JIT_OPTIONS: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"


def jvm_options(archive: Path = CLASS_ARCHIVE) -> str:
    """Returns the driver JVM's options; the archive only if it exists."""
    log_settings = Path(__file__).resolve().with_name("log4j2.properties")
    options = f"{_JIT_OPTIONS} -Dlog4j2.configurationFile={log_settings.as_uri()}"
    if archive.is_file():
        options += f" -XX:SharedArchiveFile={archive} -Xshare:auto -Xlog:disable -Xlog:all=off"
    return options


def spark_settings(master: str, scratch: str, java_options: str) -> dict[str, str]:
    """Returns Spark's settings for a master such as ``local[*]`` or ``spark://host:7077``."""
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.jars.ivy": f"{scratch}/ivy",
        "spark.local.dir": scratch,
        "spark.driver.extraJavaOptions": java_options,
        "spark.task.maxFailures": str(TASK_FAILURES),
    }
    if is_local(master):
        settings["spark.python.daemon.module"] = module("analysis.pipeline.worker_daemon")
        settings[f"spark.executorEnv.{VARIABLE}"] = str(library() or "")
    if is_on_loopback(master):
        settings |= {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.executor.extraJavaOptions": java_options,
        }
    return settings


_TRAVELS: Final = (
    ("sim", "*.py"),
    ("analysis", "*.py"),
    ("analysis", "*.yaml"),
    ("scenarios/profiles", "*.yaml"),
)
"""What remote workers need: the model, the analysis and the hardware profiles."""


class SparkStartError(Exception):
    """Spark did not start; the message says why and what to do."""


class SparkStarter:
    """Starts Spark in the background once it is known to be needed; ``context()`` waits."""

    def __init__(
        self,
        master: str = "local[*]",
        java_options: str | None = None,
        *,
        shares_folder: bool = True,
    ) -> None:
        """Takes the master.

        Args:
            master: of Spark.
            java_options: of the driver's JVM; None for the usual ones.
            shares_folder: whether executors see the folders of this process.
        """
        self.master = master
        self._shares_folder = shares_folder
        self._java_options = jvm_options() if java_options is None else java_options
        self.start_s = 0.0
        """Seconds from the request until Spark was there."""
        self.scratch = tempfile.mkdtemp(prefix="pessim-spark-")
        """Spark's own files; goes with ``stop_spark``."""
        self._context: SparkContext | None = None
        self._error: BaseException | None = None
        self._ended = threading.Event()  # a join that Ctrl-C breaks off takes the thread for dead
        self._thread = threading.Thread(target=self._start, name="spark-start", daemon=True)

    def begin(self) -> None:
        """Starts the JVM, unless it has been started; the caller need not wait."""
        if self._thread.ident is None:
            self._thread.start()

    def context(self) -> SparkContext:
        """Returns Spark's context, waiting for it.

        Raises:
            SparkStartError: if Spark did not start, with its reason.
        """
        self.begin()
        while not self._ended.wait(0.1):
            pass
        if self._context is None:
            raise SparkStartError(self._reason())
        return self._context

    def readers(self) -> SparkContext | None:
        """Returns the context if its executors can read facts; None: this process reads them."""
        return self.context() if self._shares_folder else None

    def abandoned(self) -> SparkContext | None:
        """Returns the context to be stopped, if one was started; a JVM on its way is awaited.

        A JVM that is left alone while it starts would leave its files behind.
        """
        if self._thread.ident is not None:
            self._ended.wait(ABANDON_WAIT_S)
        return self._context

    def _reason(self) -> str:
        """Returns why Spark did not start: the JVM's last word, if it had one."""
        if isinstance(self._error, SparkStartError):
            return str(self._error)
        if isinstance(self._error, OSError) and self._error.errno == errno.ENOSPC:
            return f"Spark did not start: {self._error}; make room, or set TMPDIR"
        log = Path(self.scratch) / JVM_LOG
        return why_not_started(
            self.master, log.read_text(errors="replace") if log.is_file() else "", str(self._error)
        )

    def _start(self) -> None:
        begun = time.perf_counter()
        try:
            self._context = start_context(self.master, self.scratch, self._java_options)
        except BaseException as error:  # handed to the thread that waits
            self._error = error
        self.start_s = time.perf_counter() - begun
        self._ended.set()


def start_context(master: str, scratch: str, java_options: str) -> SparkContext:
    """Returns a quiet context on ``master``; workers import this source tree, or its zip.

    The JVM gets a session of its own, so that Ctrl-C reaches this process alone, and its words go
    to a file: what a user should know is said by the command.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    if SparkContext._active_spark_context is not None:
        raise SparkStartError(
            "Spark did not start: this process has a Spark session of its own; "
            "stop it first, spark.stop()"
        )
    _export_source_tree(master)

    settings = spark_settings(master, scratch, java_options)
    conf = (
        SparkConf(loadDefaults=False)
        .setMaster(with_attempts(master, TASK_FAILURES))
        .setAppName("pessim")
    )
    conf.setAll(list(settings.items()))
    with (Path(scratch) / JVM_LOG).open("wb") as log:
        streams = {"stdout": log, "stderr": log, "start_new_session": True}
        gateway = launch_gateway(conf, popen_kwargs=streams)  # type: ignore[no-untyped-call]
    context = SparkContext(conf=conf, gateway=gateway)
    context.setLogLevel("OFF")
    context._accumulatorServer.handle_error = ignore_hang_up  # type: ignore[method-assign]
    if is_local(master):
        context.pythonExec = sys.executable  # PYSPARK_PYTHON is about other Spark jobs, or clusters
    else:
        context.addPyFile(str(write_source_zip(Path(scratch))))
    return context


def _export_source_tree(master: str) -> None:
    """Lets local workers import these modules, and run this interpreter.

    What is installed for this interpreter they find by themselves.
    """
    installed = [Path(place).resolve() for place in (*getsitepackages(), getusersitepackages())]
    if IMPORTED_FROM not in installed:
        paths = [str(IMPORTED_FROM), *filter(None, [os.environ.get("PYTHONPATH")])]
        os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LAUNCHER_OPTS", _JIT_OPTIONS)
    if is_on_loopback(master):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


def write_source_zip(folder: Path) -> Path:
    """Writes ``pessim.zip`` into ``folder``, with all that a unit needs."""
    target = folder / "pessim.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for below, names in _TRAVELS:
            for path in sorted((ROOT / below).rglob(names)):
                archive.write(path, path.relative_to(IMPORTED_FROM))
    return target


def stop_spark(starter: SparkStarter, wait_s: float = STOP_WAIT_S) -> None:
    """Ends Spark, and with it the JVM and its workers; removes Spark's own files."""
    context = starter.abandoned()
    if context is not None:
        with hang_ups_ignored():
            application = context.applicationId
            gateway = context._gateway
            process = getattr(gateway, "proc", None)
            # Its shutdown waits up to a second for the JVM to say something; the user need not.
            accumulators = context._accumulatorServer
            context._accumulatorServer = None  # type: ignore[assignment]
            context.stop()
            threading.Thread(target=accumulators.shutdown, daemon=True).start()
            if gateway is not None and process is not None:
                process.stdin.close()
                process.wait(wait_s)
                gateway._gateway_client.is_connected = False  # what is collected tells no JVM
        # The next context of this process must not call the JVM that has ended.
        type(context)._gateway = type(context)._jvm = None
        _remove_executor_folders(starter.master, application)
    shutil.rmtree(starter.scratch, ignore_errors=True)


def _remove_executor_folders(master: str, application: str) -> None:
    """Removes what executors of a ``local-cluster`` have left beside Spark itself."""
    if master.startswith("local-cluster"):
        from pyspark.find_spark_home import _find_spark_home

        shutil.rmtree(Path(_find_spark_home()) / "work" / application, ignore_errors=True)


def ignore_hang_up(request: object, client_address: object) -> None:
    """Ignores that the JVM hung up on the server of Spark's accumulators, which nothing uses.

    When Spark stops it may do so first, and the server would print a traceback.
    """


@contextmanager
def hang_ups_ignored() -> Iterator[None]:
    """Ignores that the JVM ends while Py4J sends it something, for as long as the block lasts.

    Py4J logs a traceback then, and not to its own logger but to everybody's.
    """
    everybody = logging.getLogger()
    everybody.addFilter(_is_not_py4js)
    try:
        yield
    finally:
        everybody.removeFilter(_is_not_py4js)


def _is_not_py4js(record: logging.LogRecord) -> bool:
    return record.module != "java_gateway"
