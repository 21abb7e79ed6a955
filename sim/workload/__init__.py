"""What clients ask: TPC-C, sysbench and custom mixes, as statements over real keys.

``build_workload`` makes a workload of a scenario's section; ``Workload.transaction`` draws; a
``Transaction`` yields ``Statement`` values; ``layout`` gives the regions of its tables. How many
clients there are and how they arrive is not decided here: a workload answers for any client,
whenever it is asked.
"""

from sim.scenario.schema import arrival
from sim.streams import Streams
from sim.workload.custom import CustomWorkload
from sim.workload.statement import TransactionSource
from sim.workload.sysbench import SysbenchWorkload
from sim.workload.tpcc import TpccWorkload


def build_workload(section: arrival.Workload, streams: Streams) -> TransactionSource:
    """Returns the workload a scenario names.

    Args:
        section: the scenario's ``workload``; each kind reads its own part.
        streams: clients draw from ``client-<id>/txn``.

    Raises:
        ValueError: if the kind is unknown; the schema refuses that earlier, with a position.
    """
    if section.kind == "tpcc":
        return TpccWorkload(section.warehouses, streams, section.mix)
    if section.kind in arrival.SCRIPTS:
        return SysbenchWorkload(
            section.kind,
            streams,
            tables=section.tables,
            rows=section.table_rows,
            rand=section.rand_type,
        )
    if section.kind == "custom":
        return CustomWorkload(section.custom_tables, section.transactions, streams)
    raise ValueError(f"unknown workload kind {section.kind!r}")
