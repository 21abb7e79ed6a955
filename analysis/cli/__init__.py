"""The commands of ``pessim`` and ``run_sim.py``: what they take, print, and end with.

Exit status: 0 fine; 1 an expectation or invariant does not hold; 2 bad input; 3 units failed, the
rest is kept; 130 interrupted. A user's mistake is one message, never a traceback.
"""
