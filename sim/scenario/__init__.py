"""Scenario files: what a user may say, and the resolved values a simulation is built from."""
