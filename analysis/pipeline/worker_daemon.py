"""PySpark's daemon on this machine: what every worker needs is there before it forks.

Otherwise each worker would import the model and read the hardware profiles again. No import may
leave a thread behind, since a fork copies none: NumPy's linear algebra, which a unit hardly uses,
gets one thread.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from typing import Final

from analysis.program import module

_IMPORTED: Final = (
    module("analysis.pipeline.run_units"),
    module("analysis.pipeline.plot_tables"),
    "pyspark.worker",
    module("sim.estimate"),  # which a case with a number of regions is checked by
    module("sim.simulation"),
)
_ARCHIVES: Final = (".zip", ".jar")


def main() -> None:
    """Imports, then serves as PySpark's own daemon does."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    leave_archives_out()
    make_arrow_do_without_pandas()
    for name in _IMPORTED:
        import_module(name)
    from sim.scenario.profiles import profiles

    for file in ("machines", "disks", "networks"):
        profiles(file)
    gc.collect()
    gc.freeze()  # workers share these objects as long as none searches them for cycles
    from pyspark.daemon import manager

    manager()


def leave_archives_out() -> None:
    """Takes PySpark from this environment, not from the archives that Spark puts before it.

    A zip has the same sources without bytecode, a jar has none, and every task would read the
    directories of all of them again: a tenth of a second.
    """
    sys.path[:] = [place for place in sys.path if not place.endswith(_ARCHIVES)]
    for place in [place for place in sys.path_importer_cache if place.endswith(_ARCHIVES)]:
        del sys.path_importer_cache[place]


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
