"""Published metrics: which there are, and how a unit's follow from the sums of its facts.

Pure functions of tables; knows neither Spark nor files.
"""
