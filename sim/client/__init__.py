"""TiDB: sessions that carry out statements, lock, commit in two phases, and try again.

A session is a SimPy process that reads like the protocol; a request is one object that a store
sends back. Knows the stores only as somewhere to send requests, not how a lock is kept.

Source: tikv/client-go txnkv/, pingcap/tidb pkg/executor/.
"""
