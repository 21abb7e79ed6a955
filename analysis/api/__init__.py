"""What ``import pessim`` gives: run a scenario, open a finished study, explain, check.

The commands are a shell over the same functions; these return pandas tables and figures instead of
printing. ``pessim/__init__.py`` names them, docs/PYTHON.md describes them.
"""

from analysis.api.calls import check, explain, run, scenarios
from analysis.api.calls import open_study as open  # noqa: A004 - as in PIL.Image.open
from analysis.api.study import OpenedStudy as Study
from analysis.pipeline.session import SparkStartError
from analysis.running.run_study import UnitsMissingError
from analysis.study.study_folder import StudyFolderError
from sim.scenario.problems import ScenarioError

__all__ = [
    "ScenarioError",
    "SparkStartError",
    "Study",
    "StudyFolderError",
    "UnitsMissingError",
    "check",
    "explain",
    "open",
    "run",
    "scenarios",
]
