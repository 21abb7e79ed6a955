"""``run_sim.py`` without figures of points, as for a study of too many points to draw.

They are most of what a short study costs. For tests of processes whose subject is something else;
figures are drawn by the commands of ``tests/docs``, ``tests/page`` and ``test_standalone.py``.
"""

from __future__ import annotations

import sys

import analysis.pipeline.study_tables
from analysis.cli.app import main


def draw_no_points() -> None:
    """Gives no point of any study that this process reports figures of its own."""
    vars(analysis.pipeline.study_tables)["FIGURE_POINTS"] = 0


if __name__ == "__main__":
    draw_no_points()
    sys.exit(main())
