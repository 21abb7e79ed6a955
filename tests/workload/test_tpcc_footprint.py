"""What an average TPC-C transaction asks for, against go-tpc's statements and PingCAP's dashboards.

The expected numbers are sums over the statements with one region request for one row, and
1 + MiB per warehouse / region MiB for the rows of one warehouse. They neglect the 1 % of NewOrders
that roll back and that ten random rows do not always lie on both sides of a border: hence 3 %.
"""

from __future__ import annotations

import pytest

from sim.streams import Streams
from sim.units import MIB
from sim.workload.layout import region_start_keys
from sim.workload.tpcc import TpccWorkload
from tests.workload.lone_client import LoneClient

WAREHOUSES = 5_000
TRANSACTIONS = 20_000
CLIENTS = 50
COUNTS = ("lock requests", "locked keys", "mutations", "prewrite requests", "row bytes")


@pytest.fixture(scope="module")
def client() -> LoneClient:
    workload = TpccWorkload(WAREHOUSES, Streams(seed=3, replication=0))
    client = LoneClient(region_start_keys(workload.tables(), 96 * MIB))
    for number in range(TRANSACTIONS):
        client.run(workload.transaction(number % CLIENTS))
    return client


def weighted(client: LoneClient, what: str) -> float:
    """Returns the mean over types at the weights of the mix, without the noise of their counts."""
    weights = {"new_order": 0.45, "payment": 0.43, "delivery": 0.04}
    weights |= {"order_status": 0.04, "stock_level": 0.04}
    return sum(weight * client.mean(what, name) for name, weight in weights.items())


@pytest.mark.parametrize(
    ("what", "expected"), list(zip(COUNTS, (5.04, 17.3, 18.6, 5.64, 3_468), strict=True))
)
def test_average_transaction(client: LoneClient, what: str, expected: float) -> None:
    assert client.mean(what) == pytest.approx(expected, rel=0.03)
    assert weighted(client, what) == pytest.approx(expected, rel=0.015)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("new_order", (5.39, 23, 24, 6.39, 5_008)),
        ("payment", (4.00, 4, 6, 6.00, 1_069)),
        ("delivery", (22.45, 130, 130, 4.65, 18_867)),
        ("order_status", (0, 0, 0, 0, 0)),
        ("stock_level", (0, 0, 0, 0, 0)),
    ],
)
def test_each_type(client: LoneClient, name: str, expected: tuple[float, ...]) -> None:
    means = tuple(client.mean(what, name) for what in COUNTS)
    assert means == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize(
    ("verb", "expected"),
    [("SELECT", 4.09), ("INSERT", 1.78), ("UPDATE", 6.72), ("DELETE", 0.040), ("ROLLBACK", 0.0045)],
)
def test_statements_by_verb_as_on_the_dashboard(
    client: LoneClient, verb: str, expected: float
) -> None:
    # pingcap/docs-cn media/performance/tpcc_qps.png
    assert weighted(client, verb) == pytest.approx(
        expected, rel=0.25 if verb == "ROLLBACK" else 0.03
    )


def test_statements_in_all(client: LoneClient) -> None:
    assert weighted(client, "statements") == pytest.approx(12.63, rel=0.01)


def test_regions_of_256_mib_need_fewer_requests() -> None:
    workload = TpccWorkload(WAREHOUSES, Streams(seed=3, replication=0))
    client = LoneClient(region_start_keys(workload.tables(), 256 * MIB))
    for number in range(5_000):
        client.run(workload.transaction(number % CLIENTS))
    assert weighted(client, "lock requests") == pytest.approx(4.92, rel=0.03)
    assert weighted(client, "prewrite requests") == pytest.approx(5.52, rel=0.03)
