"""One figure a function: tables in, a matplotlib figure out.

Nothing is shown, nothing is computed that is not in the tables. A variant has the same colour on
every figure.
"""
