"""Figures that TiDB's documentation publishes of one cluster, as they stand there.

``throughput.csv`` has a row a table cell pair of pingcap/docs-cn (release-7.5, ``benchmark/``): 3 x
i3.4xlarge for TiKV, 3 x c5.4xlarge for TiDB, clients and HAProxy on a c5.9xlarge. Versions that
were published twice have two rows: their difference is the noise of the method.
"""

from analysis.validation.published.throughput import (
    LOCKS,
    REPOSITORY,
    Column,
    Locks,
    Publication,
    gains,
    publications,
    published,
)

__all__ = [
    "LOCKS",
    "REPOSITORY",
    "Column",
    "Locks",
    "Publication",
    "gains",
    "publications",
    "published",
]
