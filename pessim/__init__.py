"""What pipelined and in-memory pessimistic locks do to a TiKV cluster, before anyone touches one.

::

    import pessim

    study = pessim.run("pessim:quickstart")
    study.summary, study.units, study.compare()    # pandas
    study.plot.lock_latency()                      # matplotlib

docs/PYTHON.md has it all. Names are taken from ``analysis.api`` when they are used first, since
whoever only asks for ``pessim --help`` needs no pandas.
"""

from typing import Any

__version__ = "0.1.0"
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


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from analysis import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
