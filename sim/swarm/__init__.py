"""Random small clusters from one seed each, with all checkers on.

::

    seed ─ draw ─► Recipe ────────► a unit: clients, and faults at their times      safety
                     ▲                  │ everything healed, no new transactions      liveness
                     └── shrink ◄───────┴─► Outcome: violations, digest, marks

A seed decides everything: the same seed gives the same outcome on any machine, whatever other seeds
run beside it.

Source of the idea: FoundationDB's simulation; Groce et al., Swarm Testing, 2012 (a random subset of
features each time); TigerBeetle's VOPR (safety first, then liveness).
"""
