"""Spark: units out to workers, facts back in as per-replication values and plot tables.

The only package that imports PySpark. What runs on a worker is in ``unit_task``; what Spark SQL
does to facts is in ``aggregate``, one pure function a step.
"""
