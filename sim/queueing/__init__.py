"""Stations of the model run by themselves, where the answer is known: derived, or measured.

Each begins from a fixed seed and returns a series whose mean is meant.
"""
