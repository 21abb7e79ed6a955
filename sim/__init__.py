"""Pessim's model: TiKV pessimistic locking on simulated disks, links and cores."""

from sim.compiled import use_library

use_library()
