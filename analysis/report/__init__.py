"""What a study says: named metrics, ``summary.json``, expectations, the table, the manifest.

Takes per-replication values and the statistics; knows neither Spark nor the model.
"""
