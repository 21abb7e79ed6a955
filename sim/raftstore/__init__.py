"""What happens to a region on one store besides serving it: roles, handing over, splits, merges.

Law: everything here runs in a store poller's visit to the peer, as TiKV's peer FSM does; what the
apply thread has carried out comes back as mail. Locks in memory follow the region: each module says
what becomes of them, and in which order.

Source: tikv/tikv components/raftstore/src/store/{peer.rs,fsm/peer.rs,fsm/apply.rs}; RFC 77.
"""
