"""Pessim's model: TiKV pessimistic locking on simulated disks, links and cores."""
