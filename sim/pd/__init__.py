"""PD: timestamps, and its view of the regions."""
