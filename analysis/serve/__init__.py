"""``serve``: the studies in a folder as pages of a small server on this machine alone.

The gate lets requests in, ``studies`` confines paths and reads heads, every page has a module. All
text that a study brings may have been written by somebody else, and is escaped where it is printed.
"""
