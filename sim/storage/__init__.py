"""The storage layer: the scheduler, the three paths of a lock and its fallback, waiting."""
