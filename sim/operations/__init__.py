"""What happens to a cluster while clients use it: the ``operations`` of a scenario, carried out.

::

    scenario.operations ─ start ─► faults, rolling, split_check, pd/… ─► control of the cluster
                            │            │
                            │            ▼
                            └────► context: PD's view, sizes, a random stream; counters and events

An operation asks the cluster to do something and does not wait unless it says so: a transfer may be
refused, a merge may be rolled back. Schedulers know what PD knows, and no more.
"""

from sim.operations.start import start_operations

__all__ = ["start_operations"]
