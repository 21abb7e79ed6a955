"""Arithmetic over replications: warm-up, intervals, paired ratios. Arrays in, numbers out.

Knows no files, no Spark, no metric by name.
"""
