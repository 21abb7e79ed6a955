"""PySpark's daemon on this machine: it imports the model once, before it forks workers.

Otherwise each worker would import all of it again. No import may leave a thread behind, since a
fork copies none: NumPy's linear algebra, which a unit hardly uses, gets one thread.
"""

from __future__ import annotations

import gc
import os
from importlib import import_module
from typing import Final

_IMPORTED: Final = (
    "analysis.pipeline.run_units",
    "analysis.pipeline.point_question",
    "pyspark.worker",
    "sim.simulation",
)


def main() -> None:
    """Imports, then serves as PySpark's own daemon does."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for module in _IMPORTED:
        import_module(module)
    gc.collect()
    gc.freeze()  # workers share these objects as long as none searches them for cycles
    from pyspark.daemon import manager

    manager()


if __name__ == "__main__":
    main()
