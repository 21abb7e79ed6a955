"""Names of nodes in the network, and the zones that they stand in."""

from typing import Final

from sim.scenario.resolved import Scenario

PD_NAME: Final = "pd"
CLIENT_NAME: Final = "client"


def store_name(store_id: int) -> str:
    """Returns a store's name in the network."""
    return f"store-{store_id}"


def tidb_name(node: int) -> str:
    """Returns a TiDB node's name in the network."""
    return f"tidb-{node}"


def zones_of(scenario: Scenario) -> dict[str, str]:
    """Returns the zone of every node: stores and TiDB nodes go round the zones in turn."""
    zones = scenario.cluster.zones
    nodes = {store_name(s + 1): f"zone-{s % zones}" for s in range(scenario.cluster.stores)}
    for node in range(scenario.cluster.tidb_nodes):
        nodes[tidb_name(node)] = f"zone-{node % zones}"
        nodes[f"{CLIENT_NAME}-{node}"] = f"zone-{node % zones}"
    nodes[PD_NAME] = "zone-0"
    return nodes
