"""Two finished studies beside each other: what was changed, and which numbers moved for it."""
