"""Spark: units out to workers, facts back in as per-replication values and plot tables.

The only package that imports PySpark. What runs on a worker is in ``unit_task``; what executors
make of facts is in ``aggregate`` and, for figures, in ``plot_tables``: one pure function a step.
"""
