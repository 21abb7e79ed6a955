"""Statistics of units and replications, from warm-up to sensitivity: arrays in, numbers out.

Knows no files, no Spark, no metric by name.
"""
