"""The anchors themselves, by who said it."""

from analysis.validation.anchors.claimed import CLAIMED
from analysis.validation.anchors.leaders import LEADERS
from analysis.validation.anchors.measured import MEASURED
from analysis.validation.anchors.published import PUBLISHED
from analysis.validation.anchors.sysbench import SYSBENCH
from analysis.validation.anchors.theory import THEORY

ANCHORS = (*THEORY, *CLAIMED, *PUBLISHED, *SYSBENCH, *LEADERS, *MEASURED)

__all__ = ["ANCHORS"]
