from analysis.api import *  # noqa: F403 - what it names, and nothing else

__version__: str
