"""Files of fio that cannot be used are refused in a line: where, why, and what to do."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.calibration.fio_file import read_fio
from analysis.calibration.refusal import MOST_BYTES, CalibrationError
from tests.calibration.fio_documents import (
    Document,
    changed,
    document,
    job,
    latencies,
    one_job,
    reads,
    written,
)


def _sync(wrong: Document) -> Document:
    found: Document = wrong["jobs"][0]["sync"]["lat_ns"]
    return found


def _job(wrong: Document) -> Document:
    found: Document = wrong["jobs"][0]
    return found


CASES: list[tuple[str, Callable[[Document], object], str]] = [
    ("no jobs", lambda d: d.update(jobs=[]), "jobs: missing or empty"),
    ("failed", lambda d: _job(d).update(error=5), "error: is 5, the job failed"),
    ("fio 2", lambda d: _job(d)["write"].update(clat={"N": 1}), "clat: units are mixed"),
    ("fio 2 alone",
     lambda d: [_job(d)[s].update(lat=_job(d)[s].pop("lat_ns")) for s in ("read", "write", "sync")],
     "lat: fio 2, in microseconds"),
    ("microseconds", lambda d: _job(d)["sync"].update(lat_us={}), "lat_us: units are mixed"),
    ("min above max", lambda d: _sync(d).update(min=10**9), "needs 0 <= min <= mean <= max"),
    ("nothing counted", lambda d: _sync(d).update(N=0), "missing, though the job syncs"),
    ("negative", lambda d: _sync(d).update(min=-1), "is -1, which cannot be"),
    ("no number", lambda d: _sync(d).update(mean="fast"), "mean: is not a number"),
    ("not finite", lambda d: _sync(d).update(mean=float("nan")), "mean: is not a number"),
    ("bins of microseconds",
     lambda d: _sync(d).update(bins={str(int(k) // 1000): v for k, v in _sync(d)["bins"].items()}),
     "bins: lie outside of min and max"),
    ("bins of words", lambda d: _sync(d).update(bins={"a": 1}), "not a whole number"),
    ("no latencies", lambda d: [_sync(d).pop("bins"), _sync(d).pop("percentile")],
     "has neither bins nor percentile"),
    ("percentiles fall",
     lambda d: [_sync(d).pop("bins"), _sync(d).update(percentile={"50": 9, "99": 5})],
     "do not ascend"),
    ("no percentile",
     lambda d: [_sync(d).pop("bins"), _sync(d).update(percentile={"median": 9})], "'median'"),
    ("negative bandwidth", lambda d: _job(d)["write"].update(bw_bytes=-1), "bw_bytes: is -1"),
    ("no I/O", lambda d: _job(d)["write"].update(iops=0.0), "iops: is 0"),
    ("two sizes", lambda d: _job(d)["job options"].update(bs="4k-64k"), "use one size"),
    ("no number of jobs", lambda d: _job(d)["job options"].update(numjobs="many"), "1 to 10,000"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [case[1:] for case in CASES if case[2]],
    ids=[case[0] for case in CASES if case[2]],
)
def test_what_cannot_be_is_refused(
    tmp_path: Path, change: Callable[[Document], object], message: str
) -> None:
    path = written(tmp_path, changed(change))
    with pytest.raises(CalibrationError) as refused:
        read_fio(path)
    text = str(refused.value)
    assert message in text
    assert text.startswith(str(path))
    assert "\n" not in text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("write: IOPS=8982, BW=35.1MiB/s (36.8MB/s)\n", "is not JSON; run fio 3 with"),
        ("", "is empty"),
        ("\n", "is empty"),
        ("[1, 2]", "is not a JSON object"),
        ("{}", "not a file of fio"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_what_fio_did_not_write_is_refused(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(CalibrationError, match=message):
        read_fio(written(tmp_path, content))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match="check the name"):
        read_fio(tmp_path / "none.json")


def test_what_has_no_end_is_refused() -> None:
    with pytest.raises(CalibrationError, match="/dev/zero: 50 MiB is more than 50 MiB"):
        read_fio(Path("/dev/zero"))


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match="is a folder; give the files in it"):
        read_fio(tmp_path)


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(CalibrationError, match="more than 50 MiB"):
        read_fio(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(b"{}", mtime=0), "is compressed; unpack it first: gunzip"),
        (bytes(range(256)), "is not text"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "fio.json"
    path.write_bytes(content)
    with pytest.raises(CalibrationError, match=message):
        read_fio(path)


def test_too_few_latencies_are_refused(tmp_path: Path) -> None:
    few = document(job(latencies(100, count=999), {}))
    with pytest.raises(CalibrationError, match=r"999 latencies are too few .* until .* 1,000"):
        read_fio(written(tmp_path, few))


def test_jobs_that_differ_are_refused(tmp_path: Path) -> None:
    mixed = document(job(latencies(100), {}), job(latencies(100), {"bs": "16k"}))
    with pytest.raises(CalibrationError, match=r"jobs\[1\]: differs from jobs\[0\] in bs"):
        read_fio(written(tmp_path, mixed))


def test_reads_and_writes_in_one_file_are_refused(tmp_path: Path) -> None:
    mixed = changed(lambda d: _job(d).update(read=_job(d)["write"], sync={"lat_ns": {"N": 0}}))
    with pytest.raises(CalibrationError, match="mixes reads and writes"):
        read_fio(written(tmp_path, mixed))


def test_reads_in_a_row_from_the_page_cache_are_refused(tmp_path: Path) -> None:
    buffered = written(tmp_path, reads(5, rw="read", bs="1m"))
    with pytest.raises(CalibrationError, match="rw: is read; use rw=randread, or direct=1"):
        read_fio(buffered)


def test_percentiles_of_several_jobs_cannot_be_added_up(tmp_path: Path) -> None:
    two = document(*(job(latencies(100), {"numjobs": "2"}, bins=False) for _ in range(2)))
    with pytest.raises(CalibrationError, match=r"cannot be added up; .*json\+"):
        read_fio(written(tmp_path, two))


def test_two_of_three_jobs_are_refused(tmp_path: Path) -> None:
    two = document(*(job(latencies(100), {"numjobs": "3"}) for _ in range(2)))
    with pytest.raises(CalibrationError, match="give the whole file"):
        read_fio(written(tmp_path, two))


def test_one_of_several_jobs_is_no_group(tmp_path: Path) -> None:
    one = document(job(latencies(100), {"numjobs": "3"}) | {"elapsed": 11})
    with pytest.raises(CalibrationError, match=r"1 of numjobs=3 are there; give the whole file"):
        read_fio(written(tmp_path, one))
    one["jobs"][0]["job_runtime"] = 3 * 10_000
    assert read_fio(written(tmp_path, one)).in_flight == 3


def test_sections_that_ran_one_after_the_other_are_refused(tmp_path: Path) -> None:
    apart = document(*(job(latencies(100), {}) | {"groupid": group} for group in range(2)))
    with pytest.raises(CalibrationError, match=r"jobs\[1\]\.groupid: is 1, .* run each on its own"):
        read_fio(written(tmp_path, apart))
    for each in apart["jobs"]:
        each["groupid"] = 1
    assert read_fio(written(tmp_path, apart)).in_flight == 2


def test_a_mixture_that_syncs_is_refused_too(tmp_path: Path) -> None:
    mixed = changed(lambda d: _job(d).update(read=_job(d)["write"]))
    with pytest.raises(CalibrationError, match="mixes reads and writes"):
        read_fio(written(tmp_path, mixed))


@pytest.mark.parametrize("how", ["1", "sync", "dsync"])
def test_writes_that_sync_themselves_are_refused(tmp_path: Path, how: str) -> None:
    synced = changed(lambda d: _job(d)["job options"].update(sync=how, fdatasync="0"))
    _job(synced)["sync"] = {"lat_ns": {"N": 0}}
    with pytest.raises(CalibrationError, match=rf"sync: is {how}: .*; use fdatasync=1"):
        read_fio(written(tmp_path, synced))


def test_more_time_than_the_jobs_had_is_refused(tmp_path: Path) -> None:
    picoseconds = changed(lambda d: _job(d)["write"].update(iops=1e7))
    with pytest.raises(CalibrationError, match=r"sync\.lat_ns: has a mean of .* in flight, not 1;"):
        read_fio(written(tmp_path, picoseconds))


def test_a_sync_behind_a_queue_is_refused(tmp_path: Path) -> None:
    queued = changed(lambda d: _sync(d).update(max=8 * 10**13))
    _job(queued)["job options"].update(ioengine="libaio", iodepth="8")
    with pytest.raises(CalibrationError, match=r"ioengine: is libaio: .*; use ioengine=psync"):
        read_fio(written(tmp_path, queued))


@pytest.mark.parametrize("number", ["²", "٣", "9" * 5_000])
def test_what_is_no_count_is_refused(tmp_path: Path, number: str) -> None:
    with pytest.raises(CalibrationError, match="it must be 1 to 10,000"):
        read_fio(written(tmp_path, one_job(numjobs=number)))


def test_what_fio_says_around_its_json_is_skipped(tmp_path: Path) -> None:
    text = json.dumps(one_job(), indent=2)
    around = f"\nfio: terminating on signal 2\n{text}\none: (groupid=0, jobs=1): err= 0\n"
    assert read_fio(written(tmp_path, around)).in_flight == 1
    with pytest.raises(CalibrationError, match=r"line \d+: begins a second object; keep one"):
        read_fio(written(tmp_path, f"{text}\n{text}\n"))
    with pytest.raises(CalibrationError, match="is not JSON"):
        read_fio(written(tmp_path, f"{text} and more"))


@pytest.mark.parametrize("coding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_two_bytes_a_letter_are_named(tmp_path: Path, coding: str) -> None:
    path = tmp_path / "fio.json"
    path.write_bytes(json.dumps(one_job()).encode(coding))
    with pytest.raises(CalibrationError, match="is UTF-16 text; save it as UTF-8"):
        read_fio(path)


@pytest.mark.parametrize("digits", [400, 5_000])
def test_numbers_without_end_are_refused(tmp_path: Path, digits: int) -> None:
    text = json.dumps(changed(lambda d: _sync(d).update(max=-77)))
    with pytest.raises(CalibrationError, match="max: is not a number"):
        read_fio(written(tmp_path, text.replace("-77", "9" * digits)))
    text = json.dumps(changed(lambda d: _sync(d).update(bins={"100000": -77})))
    with pytest.raises(CalibrationError, match="not a whole number"):
        read_fio(written(tmp_path, text.replace("-77", "9" * digits)))
