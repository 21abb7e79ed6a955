"""Round trips and bandwidth as ping, sockperf and iperf3 print them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.calibration.network_file import read_network
from analysis.calibration.network_profile import NetworkPart, network_of
from analysis.calibration.refusal import CalibrationError
from analysis.study.load import load_study
from sim.distributions import Empirical, LognormalMean
from sim.hardware import NetworkSpec
from tests.calibration.fio_documents import latencies, written

_SUMMARY = """\
PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.

--- 10.0.0.2 ping statistics ---
2000 packets transmitted, 2000 received, 0% packet loss, time 2041ms
rtt min/avg/max/mdev = 0.103/0.150/0.912/0.030 ms
"""
_SOCKPERF = """\
sockperf: == version #3.7-no.git ==
sockperf: Summary: Latency is 6.500 usec
sockperf: Total 159120 observations; each percentile contains 1591.20 observations
sockperf: ---> <MAX> observation =   92.600
sockperf: ---> percentile 99.900 =   21.200
sockperf: ---> percentile 99.000 =   12.100
sockperf: ---> percentile 50.000 =    6.250
sockperf: ---> <MIN> observation =    5.000
"""
_WINDOWS = "Reply from 10.0.0.2: bytes=32 time=1ms TTL=128\n"
_PING6 = """\
PING6(56=40+8+8 bytes) 2001:db8::1 --> 2001:db8::{host}
16 bytes from 2001:db8::{host}, icmp_seq=0 hlim=64 time=0.171 ms
"""


def _pings(count: int, *, unit: str = "ms") -> str:
    times = [ns / 1e6 for ns in latencies(150, count=count, name="ping")]
    lines = [
        f"64 bytes from 10.0.0.2: icmp_seq={i} ttl=64 time={time:.3f} {unit}"
        for i, time in enumerate(times)
    ]
    return "\n".join(["PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.", *lines]) + "\n"


def _iperf3(**sender: float) -> dict[str, Any]:
    return {
        "start": {},
        "end": {
            "streams": [{"sender": sender}],
            "sum_received": {"bits_per_second": 9.4e9},
        },
    }


def _spec(parts: list[NetworkPart], folder: Path) -> NetworkSpec:
    """Returns the network of a scenario that extends the profile."""
    (folder / "network.yaml").write_text(network_of(parts, "lab").text)
    scenario = folder / "scenario.yaml"
    scenario.write_text(
        "extends: network.yaml\nworkload: {kind: tpcc, warehouses: 10, threads: 5}\n"
    )
    return next(iter(load_study(scenario).variants.values())).hardware.network


def _quantile(spec: NetworkSpec, level: float) -> float:
    assert isinstance(spec.same_zone, Empirical)
    return min(ns for rank, ns in spec.same_zone.quantiles if rank >= level)


def test_pings_keep_their_tail(tmp_path: Path) -> None:
    spec = _spec(read_network(written(tmp_path, _pings(5_000))), tmp_path)
    times = sorted(latencies(150, count=5_000, name="ping"))
    for level in (0.1, 0.5, 0.9, 0.99, 0.999):
        measured = times[int(level * len(times)) - 1]
        assert _quantile(spec, level) == pytest.approx(measured, rel=0.01)


def test_ping_speaks_other_languages(tmp_path: Path) -> None:
    english = _pings(1_000)
    spoken = (
        english.replace("time=", "Zeit=") + "\n9 Pakete, 8 empfangen, 2.5% Paketverlust, Zeit 9ms\n"
    )
    there = read_network(written(tmp_path, english))[0]
    here = read_network(written(tmp_path, spoken))[0]
    assert here.quantiles == there.quantiles
    assert here.remarks == ("2.5 % of the pings were lost, which the model does not do",)


def test_a_warning_before_iperf3_s_json_is_skipped(tmp_path: Path) -> None:
    text = f"warning: -f is ignored\n{json.dumps(_iperf3())}\n"
    assert read_network(written(tmp_path, text))[0].bytes_per_s == 9.4e9 / 8


def test_a_summary_is_a_mean_and_a_deviation(tmp_path: Path) -> None:
    parts = read_network(written(tmp_path, _SUMMARY))
    assert _spec(parts, tmp_path).same_zone == LognormalMean(150_000, 0.2)
    assert any("its tail is a guess" in line for line in network_of(parts, "lab").lines)


def test_sockperf_s_halves_are_made_whole(tmp_path: Path) -> None:
    parts = read_network(written(tmp_path, _SOCKPERF))
    assert _quantile(_spec(parts, tmp_path), 0.5) == 12_500
    whole = _SOCKPERF.replace("Latency is", "Round trip is")
    assert _quantile(_spec(read_network(written(tmp_path, whole)), tmp_path), 0.5) == 6_250


@pytest.mark.parametrize("head", ["txTime, rxTime", "packet, txTime(sec), rxTime(sec), rtt(usec)"])
def test_sockperf_s_log_is_read_message_by_message(tmp_path: Path, head: str) -> None:
    wide = head.startswith("packet")
    rows = []
    for place in range(2_000):
        sent, back = place * 0.001, place * 0.001 + 12e-6 + (place % 100) * 1e-7
        cells = [f"{sent:.9f}", f"{back:.9f}"]
        rows.append(", ".join([str(place), *cells, "12.0"] if wide else cells))
    parts = read_network(written(tmp_path, "\n".join(["sockperf log", head, *rows])))
    assert parts[0].count == 2_000
    assert _quantile(_spec(parts, tmp_path), 0.5) == pytest.approx(17_000, rel=0.02)


def test_iperf3_gives_the_bandwidth_and_ping_the_round_trip(tmp_path: Path) -> None:
    ping = read_network(written(tmp_path, _pings(2_000), "ping.txt"))
    iperf = read_network(
        written(tmp_path, json.dumps(_iperf3(min_rtt=90, mean_rtt=800, max_rtt=2000)), "i.json")
    )
    spec = _spec([*ping, *iperf], tmp_path)
    assert spec.bandwidth_bytes_per_s == 1_180_000_000
    assert _quantile(spec, 0.5) == pytest.approx(150_000, rel=0.05)


def test_round_trips_of_a_full_link_are_taken_if_there_are_no_others(tmp_path: Path) -> None:
    parts = read_network(written(tmp_path, _iperf3(min_rtt=90, mean_rtt=800, max_rtt=2000)))
    assert _quantile(_spec(parts, tmp_path), 0.5) == 800_000
    assert any(
        "of a busy link, not of a request" in line for line in network_of(parts, "lab").lines
    )


def test_bandwidth_alone_makes_no_network(tmp_path: Path) -> None:
    parts = read_network(written(tmp_path, _iperf3()))
    with pytest.raises(CalibrationError, match="says nothing of round trips"):
        network_of(parts, "lab")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("hello\n", "has no round trips; give the output of ping"),
        (_pings(20), "20 round trips are too few"),
        (_pings(200).replace("time=", "time<", 1), "is not a number"),
        (_pings(200, unit="parsecs"), "unit 'parsecs'"),
        (_pings(200).replace("time=0.", "time=9999999999.", 1), "cannot be"),
        (_SUMMARY.replace("2000", "50"), "50 round trips are too few"),
        (_SUMMARY.replace("0.103/0.150", "0.203/0.150"), "0 < min <= avg <= max"),
        (_SUMMARY.replace("/mdev", "").replace("/0.030", ""), "has no deviation"),
        (_SOCKPERF.replace("Total 159120 observations", ""), "has no list of percentiles"),
        (_SOCKPERF.replace("159120", "12"), "12 round trips are too few"),
        (_SOCKPERF.replace("6.250", "60.250"), "do not ascend"),
        ('{"error": "unable to connect"}', "error: failed: 'unable to connect'"),
        ('{"end": 5}', "not a file of iperf3"),
        ('{"end": {"sum_received": {"bits_per_second": -5}}}', "is -5, which cannot be"),
        ('{"end": {"sum_received": {"bits_per_second": 0}}}', "is 0; run it longer"),
        ('{"end": {"sum_received": {}}}', "is not a number"),
        (json.dumps(_iperf3(min_rtt=900, mean_rtt=800, max_rtt=1)), "needs min_rtt <= mean_rtt"),
        ('{"end": ', "is not JSON"),
        ('{"end": {"sum_received": {"bits_per_second": %s}}}' % ("9" * 400), "is not a number"),
        (_SOCKPERF.replace("159120", "9" * 5_000), "has no list of percentiles"),
        (_SUMMARY.replace("2000", "9" * 5_000), "0 round trips are too few"),
        (
            _SUMMARY.split("rtt", maxsplit=1)[0].replace("0%", "1.2.3%"),
            "no ping was answered (2.3 % lost)",
        ),
        (_WINDOWS * 200, "ping of Windows, which counts whole milliseconds; use sockperf"),
        (_pings(200, unit="\u6beb\u79d2"), "us, ms and s are known: run LC_ALL=C ping"),
        (
            _PING6.format(host=2) + _PING6.format(host=3),
            "the round trips to 2001:db8::2, 2001:db8::3",
        ),
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(CalibrationError) as refused:
        read_network(path)
    assert message in str(refused.value)
    assert str(refused.value).startswith(str(path))
    assert "\n" not in str(refused.value)
