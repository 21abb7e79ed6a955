"""A study: what a scenario file asks, and the folder in which its units lie.

::

    file ─ inheritance, overrides ─► tree ─► variants, points, claims, questions
                                      │
                                      ▼
             Study(variants, points, claims, questions; any scenario, hashes) ─► Plan ─► units/

A unit is (point, variant, replication). Its folder is named by the hash of everything that
influences its facts, is written whole or not at all, and is never run again. Knows files; knows
neither Spark nor statistics.
"""
