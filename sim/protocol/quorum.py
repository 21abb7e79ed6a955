"""Majority arithmetic: what a set of replicas has agreed on.

Law: an index is committed when more than half of the voters hold it. Knows nothing of Raft's
messages, roles or logs.

Source: Ongaro, Consensus: Bridging Theory and Practice, section 3.5.
"""

from collections.abc import Iterable


def committed_index(matched: Iterable[int]) -> int:
    """Returns the greatest index that a majority of the voters holds.

    Args:
        matched: for every voter, the greatest index known to be persisted there.

    Raises:
        ValueError: if there is no voter.
    """
    ascending = sorted(matched)
    if not ascending:
        msg = "a quorum needs at least one voter"
        raise ValueError(msg)
    return ascending[(len(ascending) - 1) // 2]
