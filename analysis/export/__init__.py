"""A finished study in the formats of other tools: OpenMetrics, Chrome traces, CSV.

Knows those formats and what a fact is called in them. Computes no statistics: what is exported is
what the facts or ``summary.json`` say.
"""
