"""What the tools really printed, over a pair of virtual links, beside what was made of it."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from analysis.calibration.histogram import Pairs, at_rank
from analysis.calibration.network_file import read_network
from analysis.calibration.network_profile import network_of
from analysis.calibration.refusal import CalibrationError
from tests.calibration.fio_documents import written

REAL = Path(__file__).resolve().parents[1] / "testdata" / "calibration"


def _mean(quantiles: Pairs) -> float:
    return sum((high - low) * (a + b) / 2 for (low, a), (high, b) in pairwise(quantiles))


def test_pings_with_dates_are_read_line_by_line() -> None:
    path = REAL / "ping_dates.txt"
    times = sorted(float(ms) * 1e6 for ms in re.findall(r"time=([0-9.]+) ms", path.read_text()))
    part = read_network(path)[0]
    assert part.count == len(times) == 120
    assert at_rank(part.quantiles, 0.5) == pytest.approx(times[59])
    assert "p99.9" not in network_of([part], "x").lines[0]


def test_percentiles_of_sockperf_keep_the_mean_that_it_says() -> None:
    path = REAL / "sockperf.txt"
    said = re.search(r"avg-rtt=([0-9.]+)", path.read_text())
    assert said is not None
    part = read_network(path)[0]
    # Straight lines between its percentiles would make it 44 % larger.
    assert _mean(part.quantiles) == pytest.approx(float(said[1]) * 1000, rel=0.07)
    assert at_rank(part.quantiles, 0.99) == pytest.approx(24_891, rel=0.01)


def test_a_loaded_sockperf_is_doubted() -> None:
    part = read_network(REAL / "sockperf_under_load.txt")[0]
    assert any("is no ping-pong" in remark for remark in part.remarks)
    assert not any("no ping-pong" in r for r in read_network(REAL / "sockperf.txt")[0].remarks)


def test_a_rate_that_was_asked_for_is_no_bandwidth() -> None:
    part = read_network(REAL / "iperf3_limited.json")[0]
    assert part.bytes_per_s == 0
    assert part.remarks[0].startswith("sent the 1 Mbit/s that it was asked for")
    profile = network_of([part], "x")
    assert "assumed: [bandwidth, same_zone]" in profile.text
    assert "least 25.0, mean 31.0, most 38.0" in profile.lines[0]


def test_lost_datagrams_are_told() -> None:
    part = read_network(REAL / "iperf3_udp.json")[0]
    assert part.bytes_per_s == pytest.approx(41.8e6 / 8, rel=0.01)
    assert any(remark.startswith("58 % of the datagrams") for remark in part.remarks)


def test_two_directions_at_once_are_told() -> None:
    part = read_network(REAL / "iperf3_bidir.json")[0]
    assert any("run it without --bidir" in remark for remark in part.remarks)


def test_an_answer_that_came_twice_counts_once(tmp_path: Path) -> None:
    text = (REAL / "ping_dates.txt").read_text()
    again = text.splitlines()[5] + " (DUP!)\n"
    assert read_network(written(tmp_path, text + again))[0].count == 120


def test_the_summary_of_bsd_is_read(tmp_path: Path) -> None:
    text = (
        "--- fe80::2 ping6 statistics ---\n"
        "1200 packets transmitted, 1200 packets received, 0.0% packet loss\n"
        "round-trip min/avg/max/std-dev = 0.050/0.099/0.149/0.029 ms\n"
    )
    part = read_network(written(tmp_path, text))[0]
    assert (part.mean_ns, part.deviation_ns) == (99_000, 29_000)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("5 packets transmitted, 0 received, 100% packet loss\n", "no ping was answered (100 %"),
        ("ping: x.invalid: Name or service not known\n", "ping failed: 'ping: x.invalid:"),
        ("[  5]   0.00-2.00 sec  413 MBytes  1.73 Gbits/sec  receiver\niperf Done.\n", "--json"),
        ('{"fio version": "fio-3.33", "jobs": []}', "a file of fio: calibrate disk"),
        (
            "PING a (10.0.0.1) 56(84)\nPING b (10.0.0.2) 56(84)\nicmp_seq=1 ttl=64 time=1 ms\n",
            "PING: has the round trips to 10.0.0.1, 10.0.0.2",
        ),
        ("icmp_seq=1 ttl=64 time=0.000 ms\n", "time: is 0, too coarse"),
        (
            "sockperf: = Printing statistics for Server No: 0\n"
            "sockperf: = Printing statistics for Server No: 1\n",
            "Server No: has the round trips to 2 servers",
        ),
    ],
)
def test_what_says_nothing_of_a_way_is_refused(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(CalibrationError) as refused:
        read_network(written(tmp_path, content))
    assert message in str(refused.value)
