"""What commands take: arguments and options that several share, and a command as its options.

What can be refused at once is refused here.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final

import typer

from analysis.cli.completion import scenario_files, settings, study_folders, words
from analysis.program import module

_YARN: Final = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")
"""Where Spark looks for a cluster's addresses."""


def spark_master(text: str) -> str:
    """Refuses what Spark would refuse later, and in more words."""
    from analysis.pipeline.spark_master import complaint_about_master

    complaint = complaint_about_master(text)
    if complaint:
        raise typer.BadParameter(complaint)
    if text == "yarn" and not any(os.environ.get(name) for name in _YARN):
        raise typer.BadParameter(
            f"--master yarn needs {' or '.join(_YARN)}; set one of them to the folder with "
            "your cluster's yarn-site.xml"
        )
    return text


def picture_size(text: str | None) -> str | None:
    """Refuses what is no size."""
    from analysis.plots.publishing import size_in

    try:
        if text is not None:
            size_in(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return text


def font(text: str | None) -> str | None:
    """Refuses a font that is not there, in whose place another would be taken."""
    from analysis.plots.publishing import is_installed

    if text is None or is_installed(text):
        return text
    raise typer.BadParameter(f"{text!r} is not installed; fc-list prints what is")


def place_of_study(text: str | None) -> str | None:
    """Refuses an empty name, which would be the working folder."""
    if text is None or text.strip():
        return text
    raise typer.BadParameter("is empty; name a folder, such as results/mine, or leave it out")


ScenarioFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="A scenario, in YAML.", autocompletion=scenario_files)
]
ScenarioFiles = Annotated[
    list[Path], typer.Argument(metavar="FILE...", autocompletion=scenario_files)
]
FolderOrStore = Annotated[
    str | None,
    typer.Option(
        metavar="DIR",
        help="Study folder; default results/<name>. Or s3://BUCKET/FOLDER, which it is a copy of.",
        callback=place_of_study,
    ),
]
StudyFolder = Annotated[
    Path, typer.Argument(metavar="DIR", help="A study's folder.", autocompletion=study_folders)
]
SparkMaster = Annotated[
    str,
    typer.Option(
        metavar="URL",
        help="Spark master.",
        callback=spark_master,
        autocompletion=words("local[*]", "yarn", "spark://", "k8s://"),
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="A.B=V", help="Overrides one key.", autocompletion=settings),
]
Traced = Annotated[
    int | None,
    typer.Option(
        "--trace", metavar="N", min=1, max=1000,
        help="Follow N transactions: traces/*.json, for ui.perfetto.dev.",
    ),
]  # fmt: skip
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON document; docs/JSON.md says what is in it.")
]
NoPlots = Annotated[
    bool, typer.Option("--no-plots", help="Draw no pictures; the page keeps its charts.")
]


class CommandLine:
    """A command; a subclass is a frozen dataclass whose fields are the command's options.

    ``StatusCommand`` is called ``status``, and its code is ``status_command`` in the module of that
    name. It is imported when the command is called, so that ``--help`` and ``check`` stay quick.
    """

    __slots__ = ()

    def __call__(self) -> int:
        """Runs the command; returns the exit status."""
        name = f"{name_of(type(self))}_command"
        return int(getattr(import_module(module(f"analysis.cli.{name}")), name)(self))


def name_of(command: object) -> str:
    """Returns what a command is called: a class of options, or a function of a few."""
    return str(getattr(command, "__name__", "")).removesuffix("Command").lower()
