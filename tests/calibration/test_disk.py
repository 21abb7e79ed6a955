"""fio's runs as a disk: the lab's own, quantile by quantile, and how profiles are made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from analysis.calibration.disk_fit import ALLOWED, LEVELS, RunFit, fits, predictions
from analysis.calibration.disk_profile import DiskProfile, profiles_of
from analysis.calibration.disk_report import fit_lines, remarks
from analysis.calibration.fio_file import FioRun, read_fio
from analysis.calibration.profile_text import yaml_of
from analysis.calibration.refusal import CalibrationError
from analysis.study.load import load_study
from tests.calibration.fio_documents import (
    LAB,
    document,
    job,
    latencies,
    one_job,
    reads,
    written,
)

LAB_FILES = sorted(LAB.glob("*.json"))


@pytest.fixture(scope="module")
def runs() -> dict[str, FioRun]:
    return {file.stem: read_fio(file) for file in LAB_FILES}


@pytest.fixture(scope="module")
def profiles(runs: dict[str, FioRun]) -> list[DiskProfile]:
    return profiles_of(list(runs.values()), "lab")


@pytest.fixture(scope="module")
def lab_fits(profiles: list[DiskProfile]) -> dict[str, RunFit]:
    return {fit.run.path.stem: fit for fit in fits(profiles)}


MODELLED = [file.stem for file in LAB_FILES if "1m" not in file.stem]


@pytest.mark.parametrize("name", MODELLED)
def test_the_model_says_what_fio_measured(lab_fits: dict[str, RunFit], name: str) -> None:
    fit = lab_fits[name]
    errors = dict(zip(LEVELS, fit.errors, strict=True))
    assert all(abs(error) <= ALLOWED for error in errors.values()), errors
    assert fit.modelled_per_s == pytest.approx(fit.measured_per_s, rel=0.02)


def test_every_run_is_modelled_or_left_out_with_a_reason(
    profiles: list[DiskProfile], lab_fits: dict[str, RunFit]
) -> None:
    left_out = {path.stem for profile in profiles for path in profile.left_out}
    assert set(lab_fits) == set(MODELLED)
    assert left_out | set(lab_fits) == {file.stem for file in LAB_FILES}


def test_what_the_readme_of_the_measurement_says_is_found(runs: dict[str, FioRun]) -> None:
    medians = {
        "seqwrite_4k_fdatasync_qd1_append": (100, 159),
        "seqwrite_4k_fdatasync_qd1_falloc": (104, 151),
        "seqwrite_4k_fdatasync_qd1_overwrite": (48, 81),
        "seqwrite_16k_fdatasync_qd1_falloc": (117, 189),
    }
    for name, (p50, p99) in medians.items():
        latency = runs[name].latency
        assert latency.quantile_ns(0.5) / 1000 == pytest.approx(p50, rel=0.02)
        assert latency.quantile_ns(0.99) / 1000 == pytest.approx(p99, rel=0.02)
    assert runs["seqwrite_4k_fdatasync_jobs4_falloc"].per_s == pytest.approx(17_500, rel=0.01)
    assert runs["seqwrite_1m_direct"].bytes_per_s == pytest.approx(1.3e9, rel=0.01)


def test_medians_between_the_levels_follow_from_the_others(profiles: list[DiskProfile]) -> None:
    between = [fit for fit in predictions(profiles[0]) if fit.run.in_flight == 3]
    assert len(between) == 1
    body = dict(zip(LEVELS, between[0].errors, strict=True))
    assert all(abs(error) < 0.06 for level, error in body.items() if level <= 0.95), body


def test_a_profile_can_be_extended_and_says_the_disk_it_was_made_of(
    profiles: list[DiskProfile], tmp_path: Path
) -> None:
    for profile in profiles:
        (tmp_path / "disk.yaml").write_text(yaml_of(profile))
        scenario = tmp_path / "scenario.yaml"
        scenario.write_text(
            "extends: disk.yaml\nworkload: {kind: tpcc, warehouses: 10, threads: 5}\n"
        )
        disk = next(iter(load_study(scenario).variants.values())).hardware.raft_disk
        assert disk.name == profile.name
        assert disk.crowding is not None
        assert [level.in_flight for level in disk.crowding.crowds] == [2, 3, 4, 8]
        assert disk.crowding.further is not None
        assert [each.size_bytes for each in disk.longer] == [16_384]
        assert disk.fetch is not None


def test_crowding_of_another_way_is_marked_as_assumed(profiles: list[DiskProfile]) -> None:
    assert [profile.pattern for profile in profiles] == ["preallocated", "growing", "overwriting"]
    assert "crowding" not in profiles[0].assumed
    assert all("crowding" in profile.assumed for profile in profiles[1:])


def test_profiles_are_the_same_whatever_the_order_of_the_files(runs: dict[str, FioRun]) -> None:
    there = [yaml_of(each) for each in profiles_of(list(runs.values()), "lab")]
    back = [yaml_of(each) for each in profiles_of(list(runs.values())[::-1], "lab")]
    assert there == back


def test_a_run_that_contradicts_the_others_does_not_hold(tmp_path: Path) -> None:
    def crowd(median_us: float, size: str, seed: str) -> list[dict[str, object]]:
        options = {"numjobs": "2", "bs": size}
        return [job(latencies(median_us, name=f"{seed}{i}"), options) for i in range(2)]

    files = [
        written(tmp_path, one_job(100), "alone.json"),
        written(tmp_path, one_job(150, bs="16k"), "longer.json"),
        written(tmp_path, document(*crowd(180, "4k", "a")), "two.json"),
        written(tmp_path, document(*crowd(700, "16k", "b")), "two_longer.json"),
    ]
    found = {fit.run.path.stem: fit for fit in fits(profiles_of([*map(read_fio, files)], "x"))}
    assert {name for name, fit in found.items() if not fit.holds} == {"two_longer"}
    assert any("BEYOND 5%" in line for line in fit_lines([found["two_longer"]]))


def test_one_job_alone_makes_a_profile_without_crowding(tmp_path: Path) -> None:
    run = read_fio(written(tmp_path, one_job()))
    profile = profiles_of([run], "x")[0]
    assert profile.crowded is None
    assert set(profile.assumed) == {"write_bandwidth", "write_iops"}
    assert any("do not disturb each other: assumed" in line for line in remarks([profile], [run]))


def test_a_crowd_that_is_quicker_than_one_job_is_doubted(tmp_path: Path) -> None:
    two = document(*(job(latencies(80, name=f"{i}"), {"numjobs": "2"}) for i in range(2)))
    files = [written(tmp_path, one_job(), "one.json"), written(tmp_path, two, "two.json")]
    runs = [read_fio(file) for file in files]
    said = [line for line in remarks(profiles_of(runs, "x"), runs) if "measure again" in line]
    assert len(said) == 1
    assert said[0].startswith("two.json: its median, ")


def test_percentiles_alone_are_used_and_called_coarse(tmp_path: Path) -> None:
    run = read_fio(written(tmp_path, document(job(latencies(100), {}, bins=False))))
    assert run.latency.coarse
    profiles = profiles_of([run], "x")
    assert all(fit.holds for fit in fits(profiles))
    assert any("coarse" in line for line in remarks(profiles, [run]))


def test_a_sync_after_several_writes_has_their_size(tmp_path: Path) -> None:
    run = read_fio(written(tmp_path, one_job(fdatasync="8")))
    assert run.size_bytes == 8 * 4096
    assert run.per_s == pytest.approx(read_fio(written(tmp_path, one_job())).per_s / 8)


def test_grouped_jobs_are_as_many_as_they_say(tmp_path: Path) -> None:
    run = read_fio(written(tmp_path, one_job(numjobs="4", group_reporting="1")))
    assert run.in_flight == 4


def test_depth_counts_for_engines_that_queue(tmp_path: Path) -> None:
    assert read_fio(written(tmp_path, one_job(iodepth="8"))).in_flight == 1
    assert read_fio(written(tmp_path, one_job(iodepth="8", ioengine="libaio"))).in_flight == 8


def test_without_one_job_there_is_no_profile(tmp_path: Path) -> None:
    crowd = [job(latencies(100), {"numjobs": "2"}) for _ in range(2)]
    run = read_fio(written(tmp_path, document(*crowd)))
    with pytest.raises(CalibrationError, match=r"fio\.json: no file of one job .*numjobs=1"):
        profiles_of([run], "x")


def test_without_a_stream_the_ceilings_are_those_of_a_machine(tmp_path: Path) -> None:
    slow = read_fio(written(tmp_path, one_job(3_000)))
    profile = profiles_of([slow], "x")[0]
    ceilings = profile.ceilings
    assert (ceilings.bytes_per_s, ceilings.iops) == (1_620_000_000, 363_000)
    assert (ceilings.read_bytes_per_s, ceilings.read_iops) == (None, None)
    other = profiles_of([slow], "x", "gp3_base")[0]
    assert (other.ceilings.bytes_per_s, other.ceilings.iops) == (131_000_000, 3_000)
    said = " ".join(remarks([other], [slow]))
    assert "the capacity rests on 131MB/s and 3,000 writes/s: ASSUMED, those of gp3_base" in said
    assert "fio --name=stream --rw=write --bs=1m --direct=1" in said
    assert "write_bandwidth, write_iops: ASSUMED, of gp3_base" in yaml_of(other)
    assert "The capacity rests on them" in yaml_of(other)


def test_assumed_ceilings_slow_no_measured_latency(tmp_path: Path) -> None:
    quick = read_fio(written(tmp_path, one_job(2, bs="64k")))
    profile = profiles_of([quick], "x", "gp3_base")[0]
    assert profile.ceilings.bytes_per_s >= 0.99 * quick.size_bytes / quick.latency.min_ns * 1e9
    assert profile.ceilings.iops >= 0.99e9 / quick.latency.min_ns
    assert all(fit.holds for fit in fits([profile]))


def test_a_stream_gives_the_bandwidth(profiles: list[DiskProfile]) -> None:
    assert profiles[0].assumed == ("write_iops",)
    assert profiles[0].ceilings.bytes_per_s == pytest.approx(1.3e9, rel=0.01)
    assert not any("the capacity rests" in line for line in remarks(profiles, []))


def test_a_stream_of_reads_gives_what_reads_use_up(tmp_path: Path) -> None:
    stream = read_fio(written(tmp_path, reads(400, rw="read", bs="1m", direct="1"), "reads.json"))
    appends = read_fio(written(tmp_path, one_job(100), "one.json"))
    profile = profiles_of([stream, appends], "x", "m5d.2xlarge")[0]
    assert profile.ceilings.read_bytes_per_s == pytest.approx(stream.bytes_per_s, rel=0.01)
    assert profile.ceilings.read_iops == 130_000
    assert profile.assumed == ("write_bandwidth", "write_iops", "read_iops")
    assert "reads.json: not modelled: gives bandwidth only" in " ".join(remarks([profile], []))
    document = yaml.safe_load(yaml_of(profile))["hardware"]["disk"]["raft"]
    assert document["read_iops"] == 130_000
    assert all(fit.holds for fit in fits([profile]))


def test_read_ceilings_slow_no_measured_read(tmp_path: Path) -> None:
    quick = read_fio(written(tmp_path, reads(2, rw="randread", direct="1"), "quick.json"))
    stream = read_fio(written(tmp_path, reads(9_000, rw="read", bs="1m", direct="1"), "slow.json"))
    appends = read_fio(written(tmp_path, one_job(100), "one.json"))
    ceilings = profiles_of([quick, stream, appends], "x")[0].ceilings
    assert ceilings.read_iops is not None
    assert ceilings.read_iops >= 0.99e9 / quick.latency.min_ns
    assert ceilings.read_bytes_per_s is not None
    assert ceilings.read_bytes_per_s >= 0.99 * 4096e9 / quick.latency.min_ns


def test_a_measured_bandwidth_of_reads_is_not_outdone_by_what_a_crowd_might_read(
    tmp_path: Path,
) -> None:
    one = read_fio(written(tmp_path, reads(100, rw="randread", direct="1"), "crowd.json"))
    crowd = replace(one, in_flight=8, size_bytes=40_960)
    stream = read_fio(written(tmp_path, reads(400, rw="read", bs="1m", direct="1"), "reads.json"))
    appends = read_fio(written(tmp_path, one_job(100), "one.json"))
    ceilings = profiles_of([crowd, stream, appends], "x")[0].ceilings
    assert ceilings.read_bytes_per_s == pytest.approx(stream.bytes_per_s, rel=0.01)
