"""The storage layer: scheduler, commands, a lock's paths, lock waits and deadlocks, block cache."""
