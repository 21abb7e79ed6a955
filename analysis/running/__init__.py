"""Runs a study: units in rounds, then summary, figures and page.

``run_study`` does it all from Python; the command adds what it prints, as a ``RunListener``.
"""
