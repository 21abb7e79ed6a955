"""What the accounting must not mistake for a loss."""

from sim.units import NS_PER_MS
from tests.scenes import PIPELINED, Scene, constant_scenario


def test_a_lock_that_only_followers_have_applied_is_there() -> None:
    scene = Scene(constant_scenario(tikv=PIPELINED))
    scene.cluster.failpoints.hold("before_apply", store=1)
    scene.lock(b"k", 100)
    scene.lock(b"q", 101, at_ns=10 * NS_PER_MS)  # Tells the followers that the first is committed.
    scene.run(50 * NS_PER_MS)
    leader, follower = (scene.cluster.peers_of(1)[store] for store in (1, 2))
    assert b"k" not in leader.state.mvcc.locks
    assert b"k" in follower.state.mvcc.locks
    assert scene.violations() == []
