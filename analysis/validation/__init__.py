"""Anchors: figures that others have derived, published or measured, beside the model's own.

An anchor says under which conditions its figure holds, where it is from, and how far the model may
be from it. Nothing here changes the model; what lies outside its band stays outside.
"""
