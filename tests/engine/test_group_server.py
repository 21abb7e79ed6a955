"""A group server takes all who wait, and nobody can tell that arrivals were announced ahead."""

from itertools import accumulate

from hypothesis import given, settings
from hypothesis import strategies as st

from sim.engine import GroupServer, Inlet, LeanEnv

SERVICE_NS = 50


def ends_by_hand(arrivals: list[tuple[int, str]]) -> dict[str, int]:
    """Returns when each member is served, from all arrivals in order."""
    ends: dict[str, int] = {}
    free = 0
    while arrivals:
        begin = max(free, arrivals[0][0])
        free = begin + SERVICE_NS + sum(arrival <= begin for arrival, _ in arrivals)
        for _, name in arrivals[: free - begin - SERVICE_NS]:
            ends[name] = free
        arrivals = arrivals[free - begin - SERVICE_NS :]
    return ends


inlets = st.lists(
    st.lists(st.tuples(st.integers(1, 80), st.integers(0, 60)), max_size=12), max_size=3
)


@settings(derandomize=True)
@given(inlets)
def test_groups_are_those_of_a_queue_that_knows_nothing_ahead(
    gaps: list[list[tuple[int, int]]],
) -> None:
    env = LeanEnv()
    ends: dict[str, int] = {}

    def done(groups: list[list[str]]) -> None:
        assert len(groups) == len(gaps)
        ends.update((name, env.now_ns) for group in groups for name in group)

    def announce(member: tuple[Inlet, int, str]) -> None:
        inlet, arrival, name = member
        inlet.announce(arrival, name)

    server = GroupServer(env, lambda count: SERVICE_NS + count, done)
    everybody = []
    for number, steps in enumerate(gaps):
        inlet, told = server.inlet(), 0
        for index, arrival in enumerate(accumulate(gap for gap, _ in steps)):
            name = f"{number}.{index}"
            # Each is announced some time ahead, but not before the one in front of it.
            told = max(told, arrival - steps[index][1])
            everybody.append((arrival, name))
            env.at(told, announce, (inlet, arrival, name))
    env.run_until(10**6)
    assert ends == ends_by_hand(sorted(everybody))


def test_a_busy_server_needs_one_event_a_group() -> None:
    env = LeanEnv()
    server = GroupServer(env, lambda count: SERVICE_NS, lambda groups: None)
    inlet = server.inlet()
    for arrival in range(100):
        inlet.announce(arrival, arrival)
    env.run_until(10**6)
    # Groups begin at 0, 50 and 100; beside their ends only the first arrival is an event.
    assert (server.groups, server.busy_ns, env.events) == (3, 3 * SERVICE_NS, 4)
