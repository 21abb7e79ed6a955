"""Published metrics: which there are, how a unit's follow from its facts, how they are written.

Pure functions of tables; knows neither Spark nor files.
"""
