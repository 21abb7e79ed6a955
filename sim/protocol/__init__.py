"""The rules of TiKV, Percolator and Raft as pure state machines.

Nothing here knows a clock, a random number, a file or SimPy: time is an argument, waiting is a
value, and what must be written is returned as a ``WriteBatch``. ``sim.raftstore`` gives the batches
to logs, disks and networks.
"""
