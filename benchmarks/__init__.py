"""The simulator's own speed, and studies of its statistics; ``python -m benchmarks`` lists them."""
