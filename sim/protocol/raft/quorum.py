"""Majority arithmetic: what a set of replicas has agreed on.

An index is committed when more than half of the voters hold it, and a vote is won when more than
half have granted it. Knows nothing of Raft's messages, roles or logs.

Source: Ongaro, Consensus: Bridging Theory and Practice, section 3.5.
"""

from collections.abc import Iterable, Mapping
from enum import Enum


class VoteResult(Enum):
    """How an election stands."""

    PENDING = "pending"
    WON = "won"
    LOST = "lost"


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


def is_majority(members: Iterable[int], voters: tuple[int, ...]) -> bool:
    """Returns whether more than half of ``voters`` are among ``members``; others do not count."""
    return 2 * len(set(members).intersection(voters)) > len(voters)


def vote_result(votes: Mapping[int, bool], voters: tuple[int, ...]) -> VoteResult:
    """Returns how an election stands after ``votes`` (voter: whether granted).

    It is lost when those who have not refused are no majority any more.
    """
    if is_majority([voter for voter, granted in votes.items() if granted], voters):
        return VoteResult.WON
    if is_majority([voter for voter in voters if votes.get(voter, True)], voters):
        return VoteResult.PENDING
    return VoteResult.LOST
