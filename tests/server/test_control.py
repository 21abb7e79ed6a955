"""Orders to a real cluster: which links a healing mends."""

from __future__ import annotations

from sim.server.control import Control
from tests.scenes import Scene, constant_scenario


def test_healing_leaves_what_other_partitions_cut() -> None:
    of = Scene(constant_scenario(cluster={"stores": 3}), [b""])
    control = Control(of.cluster)
    control.isolate(["store-1"])
    groups = [["store-1", "tidb-0"], ["store-2", "pd"]]
    control.partition(groups)
    control.heal([groups])
    cut = {ends for ends, link in of.cluster.network.links().items() if link.cut}
    assert cut == {
        ("store-1", "store-2"), ("store-2", "store-1"), ("tidb-0", "store-2"),
        ("store-2", "tidb-0"), ("store-1", "pd"), ("tidb-0", "pd"),
    }  # fmt: skip
    control.heal()
    assert not any(link.cut for link in of.cluster.network.links().values())
