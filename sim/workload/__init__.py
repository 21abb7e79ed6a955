"""What clients ask: TPC-C, sysbench and custom mixes, as statements over real keys.

``build_workload`` makes a workload of a scenario's section; ``Workload.transaction`` draws; a
``Transaction`` yields ``Statement`` values; ``layout`` gives the regions of its tables.
"""

from sim.workload.factory import build_workload

__all__ = ["build_workload"]
