"""Checkers: observers that report what must never happen; the model does not know them."""
