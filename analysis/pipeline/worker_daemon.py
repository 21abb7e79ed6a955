"""PySpark's daemon on this machine: it imports the model once, before it forks workers.

Otherwise each worker would import all of it again. No import may leave a thread behind, since a
fork copies none: NumPy's linear algebra, which a unit hardly uses, gets one thread.
"""

from __future__ import annotations

import gc
import os
import sys
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
    make_arrow_do_without_pandas()
    for module in _IMPORTED:
        import_module(module)
    gc.collect()
    gc.freeze()  # workers share these objects as long as none searches them for cycles
    from pyspark.daemon import manager

    manager()


def make_arrow_do_without_pandas() -> None:
    """Lets Arrow take pandas for absent; everyone else may still import it.

    Arrow imports pandas when it makes its first array, to ask whether what it was given is a
    series: 0.7 s of CPU and 40 MiB in each worker, which handles none.
    """
    import pyarrow as pa

    sys.meta_path.insert(0, _NoPandas)
    pa.array([0])
    sys.meta_path.remove(_NoPandas)


class _NoPandas:
    """Finds no pandas."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> None:
        """Leaves all other modules to the finders after this one."""
        if name == "pandas":
            raise ModuleNotFoundError(name)


if __name__ == "__main__":
    main()
