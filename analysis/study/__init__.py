"""The study folder: which units a study has, which of them are done, and where they lie.

A unit is (point, variant, replication). Its folder is named by the hash of everything that
influences its facts, is written whole or not at all, and is never run again. Knows files; knows
neither Spark nor statistics.
"""
