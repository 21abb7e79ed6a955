from analysis.api import (
    ScenarioError as ScenarioError,
)
from analysis.api import (
    SparkStartError as SparkStartError,
)
from analysis.api import (
    Study as Study,
)
from analysis.api import (
    StudyFolderError as StudyFolderError,
)
from analysis.api import (
    UnitsMissingError as UnitsMissingError,
)
from analysis.api import (
    check as check,
)
from analysis.api import (
    explain as explain,
)
from analysis.api import (
    open as open,
)
from analysis.api import (
    run as run,
)
from analysis.api import (
    scenarios as scenarios,
)

__version__: str
