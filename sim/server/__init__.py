"""Stores: the rules of ``sim.protocol`` carried out on the hardware of ``sim.hardware``.

A request's way through a store::

    network ► Scheduler (latch, pool, command) ─┬─ in memory ──────────────► reply
                                                └─ StorePoller (propose) ─┬─► reply "proposed"
                                                   LogEngine (append)     │
                                                   followers, quorum      │
                                                   ApplyPool ► KvEngine ──┴─► reply "applied"

Pollers are loops written as steps that the event queue calls: each step ends where the loop
would block. Knows nothing of SQL, of what clients want, nor of who watches.
"""
