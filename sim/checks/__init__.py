"""Observers: they look at what a run has done, and the model does not know them."""
