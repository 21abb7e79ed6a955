"""What clients ask: TPC-C, sysbench and custom mixes, as statements over real keys.

``build_workload`` makes a workload of a scenario's section; ``Workload.transaction`` draws; a
``Transaction`` yields ``Statement`` values; ``region_start_keys`` gives the regions of its tables.
"""

from sim.workload.factory import build_workload
from sim.workload.layout import Table, even_start_keys, region_start_keys
from sim.workload.statement import (
    ROLLBACK,
    Payloads,
    Read,
    ReadKind,
    Statement,
    Transaction,
    Workload,
)

__all__ = [
    "ROLLBACK",
    "Payloads",
    "Read",
    "ReadKind",
    "Statement",
    "Table",
    "Transaction",
    "Workload",
    "build_workload",
    "even_start_keys",
    "region_start_keys",
]
