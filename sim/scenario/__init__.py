"""What one unit is built from: the sections that a file may have of it, and their resolved values.

::

    file ─ reader ─► tree ─ profiles, sections (schema), resolve ─► Scenario

Which files, variants and points there are is no matter of a unit: ``analysis.study``. Whatever is
wrong is a ``Problem`` with its place in the file; they are raised together.
"""

from sim.scenario.problems import Problem, ScenarioError
from sim.scenario.resolved import Scenario

__all__ = ["Problem", "Scenario", "ScenarioError"]
