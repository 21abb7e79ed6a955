"""Measurements of real disks, networks and TiKV clusters, turned into what a scenario can say."""
