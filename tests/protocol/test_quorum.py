"""What a majority holds, against counting."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.protocol.raft.quorum import VoteResult, committed_index, is_majority, vote_result

MATCHED = st.lists(st.integers(0, 12), min_size=1, max_size=9)


def counted(matched: list[int]) -> int:
    """Returns the greatest index that more than half hold, by trying all of them."""
    return max(
        index
        for index in range(max(matched) + 1)
        if sum(held >= index for held in matched) * 2 > len(matched)
    )


@given(MATCHED)
def test_is_the_greatest_index_that_more_than_half_hold(matched: list[int]) -> None:
    assert committed_index(matched) == counted(matched)


@given(MATCHED)
def test_does_not_depend_on_the_order_of_voters(matched: list[int]) -> None:
    turned = matched[1:] + matched[:1]
    assert committed_index(turned) == committed_index(matched)
    assert committed_index(dict(enumerate(matched)).values()) == committed_index(matched)


@given(MATCHED, st.data())
def test_never_falls_when_a_voter_gets_further(matched: list[int], data: st.DataObject) -> None:
    before = committed_index(matched)
    matched[data.draw(st.integers(0, len(matched) - 1))] += 1
    assert before <= committed_index(matched) <= before + 1


@pytest.mark.parametrize(
    ("matched", "index"), [([7], 7), ([7, 9], 7), ([5, 7, 9], 7), ([1, 5, 7, 9], 5)]
)
def test_an_even_number_of_voters_needs_one_more_than_half(matched: list[int], index: int) -> None:
    assert committed_index(matched) == index


def test_no_voters_agree_on_nothing() -> None:
    with pytest.raises(ValueError, match="at least one voter"):
        committed_index([])


@given(st.lists(st.integers(1, 9)), st.lists(st.integers(1, 9), max_size=9, unique=True))
def test_a_majority_is_more_than_half_of_the_voters(members: list[int], voters: list[int]) -> None:
    counted_members = sum(voter in members for voter in voters)
    assert is_majority(members, tuple(voters)) == (counted_members > len(voters) / 2)


@given(st.dictionaries(st.integers(1, 7), st.booleans()), st.integers(1, 7))
def test_a_vote_is_decided_when_the_rest_cannot_change_it(
    votes: dict[int, bool], count: int
) -> None:
    voters = tuple(range(1, count + 1))
    best = is_majority([v for v in voters if votes.get(v, True)], voters)
    worst = is_majority([v for v in voters if votes.get(v, False)], voters)
    expected = VoteResult.WON if worst else VoteResult.PENDING if best else VoteResult.LOST
    assert vote_result(votes, voters) is expected


@pytest.mark.parametrize(
    ("votes", "result"),
    [
        ({}, VoteResult.PENDING),
        ({1: True}, VoteResult.PENDING),
        ({1: True, 3: True}, VoteResult.WON),
        ({1: True, 9: True}, VoteResult.PENDING),
        ({2: False, 3: False}, VoteResult.LOST),
    ],
)
def test_three_voters(votes: dict[int, bool], result: VoteResult) -> None:
    assert vote_result(votes, (1, 2, 3)) is result
