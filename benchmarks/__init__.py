"""Benchmarks: what the engine and the pipeline cost."""
