"""The schema of scenario files: sections, their keys, units, ranges, defaults and their sources."""
