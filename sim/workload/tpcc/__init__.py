"""TPC-C as pingcap/go-tpc asks it of TiDB, statement by statement."""

from sim.workload.tpcc.workload import TpccWorkload

__all__ = ["TpccWorkload"]
