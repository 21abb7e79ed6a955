"""Regions on one store: Raft, its log, and what becomes of their locks.

``store.py`` connects the parts; ``poller.py`` is the loop that drives them, ``peer_fsm.py`` says
which mail goes where. Whatever happens to a region happens in a store poller's visit to its peer;
what the apply thread has carried out comes back as mail. Knows nothing of transactions, of what
clients want, nor of who observes.

Source: tikv/tikv components/raftstore; RFC 77.
"""
