"""What happens to a cluster while clients use it: the ``operations`` of a scenario, carried out.

::

    scenario.operations ─ moments ─► choice ─► control of the cluster
                            │          │ heat, PD's view, a random stream
                            ▼          ▼
                         journal: counters and events of what was done

An operation asks the cluster to do something and does not wait unless it is told to: a transfer
may be refused, a merge may be rolled back. Schedulers know what PD knows, and no more.
"""

from sim.operations.leader_counts import LeaderCounts
from sim.operations.operator import start_operations
from sim.operations.region_counts import RegionCounts
from sim.operations.transfer_times import TransferTimes

__all__ = ["LeaderCounts", "RegionCounts", "TransferTimes", "start_operations"]
