"""What is said of a study: ``summary.json``, verdict, manifest, tables for a terminal, reference.

Takes per-replication values and the statistics; knows neither Spark nor the model.
"""
