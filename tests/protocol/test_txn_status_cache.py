"""Transactions that were committed lately."""

from sim.protocol.txn_status_cache import KEPT_NS, TxnStatusCache


def test_a_transaction_is_kept_for_the_required_time() -> None:
    cache = TxnStatusCache()
    cache.insert_committed(10, 0)
    cache.insert_committed(10, 5)  # Noted again, it is no younger.
    cache.insert_committed(20, KEPT_NS)
    assert cache.is_committed(10)
    cache.insert_committed(30, KEPT_NS + 1)
    assert not cache.is_committed(10)
    assert cache.is_committed(20)
