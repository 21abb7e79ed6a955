"""From a study file to numbers with intervals: units on Spark, facts, statistics, plots, pages.

Reads of the model only what a scenario says (``sim.scenario``), what a run leaves (``sim.record``)
and the one function that runs a unit. Nothing here may change a fact.
"""
