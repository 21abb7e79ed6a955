"""Keys of a disk that was measured: read, refused, and written out again."""

from pathlib import Path

import pytest
import yaml

from analysis.study.documents import document_of
from analysis.study.load import load_study
from sim.distributions import Empirical
from sim.hardware import Crowd, Crowding, Longer
from sim.scenario.problems import ScenarioError
from sim.scenario.resolved import Scenario

_DISK = """
      write_bandwidth: 1.3GB/s
      write_iops: 60000
      append: {quantiles: [[0, 90us], [0.5, 104us], [1, 2ms]]}
      longer: [{size: 16KiB, latency: {quantiles: [[0, 93us], [0.5, 117us], [1, 3ms]]}}]
      crowding:
        levels: [{in_flight: 2, latency: {quantiles: [[0, 110us], [0.5, 163us], [1, 4ms]]}}]
        further: {quantiles: [[0, 5us], [0.5, 20us], [1, 1ms]]}
      fetch: {quantiles: [[0, 22us], [0.5, 32us], [1, 1ms]]}
      fetch_crowding:
        levels: [{in_flight: 8, latency: {quantiles: [[0, 23us], [0.5, 114us], [1, 9ms]]}}]
"""


def _loaded(folder: Path, disk: str = _DISK) -> Scenario:
    path = folder / "scenario.yaml"
    path.write_text(
        "about: a measured disk\nworkload: {kind: tpcc, warehouses: 100, threads: 5}\n"
        f"hardware:\n  disk:\n    raft:{disk}    kv: shared\n"
    )
    return next(iter(load_study(path).variants.values()))


def test_a_measured_disk_is_read(tmp_path: Path) -> None:
    disk = _loaded(tmp_path).hardware.raft_disk
    assert disk.crowding == Crowding(
        (Crowd(2, Empirical(((0, 110_000), (0.5, 163_000), (1, 4_000_000)))),),
        further=Empirical(((0, 5_000), (0.5, 20_000), (1, 1_000_000))),
    )
    assert [type(each) for each in disk.longer] == [Longer]
    assert disk.longer[0].size_bytes == 16 * 1024
    assert isinstance(disk.fetch, Empirical)
    assert disk.fetch_crowding is not None


def test_a_measured_disk_is_written_out_as_it_was_read(tmp_path: Path) -> None:
    scenario = _loaded(tmp_path)
    again = tmp_path / "again.yaml"
    again.write_text(yaml.safe_dump(document_of(scenario)))
    assert next(iter(load_study(again).variants.values())) == scenario


def test_a_disk_that_was_not_measured_is_written_as_before(tmp_path: Path) -> None:
    document = document_of(_loaded(tmp_path, " nvme_i3_4xlarge\n"))
    keys = set(document["hardware"]["disk"]["raft"])
    assert not keys & {"longer", "crowding", "fetch", "fetch_crowding"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("append: {quantiles: [[0, 90us], [0.5, 104us], [1, 2ms]]}", "append: 100us",
         "needs append as quantiles"),
        ("fetch: {quantiles: [[0, 22us], [0.5, 32us], [1, 1ms]]}", "fetch: 30us",
         "needs fetch as quantiles"),
        ("size: 16KiB", "size: 4KiB", "sizes must ascend from above a page"),
        ("in_flight: 2", "in_flight: 1", "must be 2 to 10000"),
        ("{quantiles: [[0, 110us], [0.5, 163us], [1, 4ms]]}", "163us", "must be {quantiles}"),
        ("further: {quantiles: [[0, 5us], [0.5, 20us], [1, 1ms]]}", "further: {mean: 5us}",
         "must be {quantiles}"),
        ("levels: [{in_flight: 8", "levels: [{in_flight: 9, latency: {quantiles: [[0, 1ms]]}}, "
         "{in_flight: 8", "in_flight must ascend"),
    ],
)  # fmt: skip
def test_what_contradicts_itself_is_refused(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in _DISK
    with pytest.raises(ScenarioError, match=message):
        _loaded(tmp_path, _DISK.replace(old, new))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("read_iops: 9000", "read_iops: needs read_bandwidth besides; write both, or neither"),
        (
            "read_bandwidth: 1GB/s",
            "read_bandwidth: needs read_iops besides; write both, or neither",
        ),
        (
            "read_bandwidth: 1GB/s, read_iops: 9000, throttled: true",
            "read_iops: throttled reads take the tokens of writes; leave it out",
        ),
    ],
)
def test_reads_of_a_device_have_both_figures(tmp_path: Path, keys: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=f"hardware.disk.raft.{message}"):
        _loaded(tmp_path, f" {{profile: lab_virtio, {keys}}}\n")
