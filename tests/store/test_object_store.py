"""Addresses of stores, and what is said when one cannot be used: one line with its mend."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.pipeline.object_store import ObjectStore, is_address, reason
from analysis.study.study_folder import StudyFolderError
from analysis.study.unit_folder import UNIT_FILE
from tests.store.s3_server import address, free_port, server_that_refuses

SEEN = [
    ("When listing objects under key 'x' in bucket 'b': AWS Error ACCESS_DENIED during "
     "ListObjectsV2 operation: Access Denied (Request ID: W7C)", "access is denied"),
    ("When resolving region for bucket 'b': AWS Error NO_SUCH_BUCKET during HeadBucket operation: "
     "No response body.", "there is no such bucket"),
    ("AWS Error NETWORK_CONNECTION during HeadBucket operation: curlCode: 7, Could not connect",
     "its server cannot be reached"),
    ("AWS Error SLOW_DOWN during PutObject operation: wait\n a little (Request ID: 12)",
     "AWS Error SLOW_DOWN during PutObject operation: wait a little"),
    ("", "OSError"),
]  # fmt: skip


@pytest.mark.parametrize(("said", "cause"), SEEN)
def test_a_clients_words_become_one_line(said: str, cause: str) -> None:
    found = reason(OSError(said))
    assert found.startswith(cause)
    assert "\n" not in found
    assert "Request ID" not in found


def test_what_is_an_address() -> None:
    assert is_address("s3://bucket/studies/x")
    assert not is_address("results/x")
    assert not is_address("C:/results")


@pytest.mark.parametrize(
    ("text", "mend"),
    [
        ("ftp://host/x", "write one of s3://, gs://, abfss://, hdfs://"),
        ("s3://bucket", "write s3://bucket/FOLDER"),
        ("s3://bucket/", "write s3://bucket/FOLDER"),
        ("s3://key:secret@bucket/x", "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
        ("s3://bucket/x?colour=red", "Unexpected query parameter in S3 URI: 'colour'"),
    ],
)
def test_a_wrong_address_is_one_line(text: str, mend: str) -> None:
    with pytest.raises(StudyFolderError) as caught:
        ObjectStore.at(text)
    assert mend in str(caught.value)
    assert "secret@" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_server_that_nobody_is_at_is_one_line() -> None:
    port = free_port()
    with pytest.raises(StudyFolderError, match="its server cannot be reached; correct AWS_END"):
        ObjectStore.at(address("x", port))


def test_a_missing_right_is_one_line() -> None:
    with (
        server_that_refuses() as port,
        pytest.raises(StudyFolderError, match="access is denied; set AWS_ACCESS_KEY_ID"),
    ):
        ObjectStore.at(address("x", port))


def test_a_missing_bucket_is_one_line(s3_port: int) -> None:
    with pytest.raises(StudyFolderError) as caught:
        ObjectStore.at(address("x", s3_port, "none"))
    expected = "s3://none/x: there is no such bucket; make it, or correct its name"
    assert str(caught.value) == expected


def test_files_come_back_as_they_went(s3_port: int) -> None:
    store = ObjectStore.at(address("files", s3_port).replace("s3:", "s3a:", 1))
    assert str(store) == "s3://bucket/files"
    assert store.unit_names() == set()
    store.write("plots/a.png", b"\0png")
    store.write("plots/a.png", b"\0other")
    assert store.read("plots/a.png") == b"\0other"
    with pytest.raises(FileNotFoundError, match="s3://bucket/files"):
        store.read("plots/b.png")
    store.remove("plots/a.png")
    store.remove("plots/a.png")
    store.remove("none")


def test_a_unit_is_whole_when_its_record_is_there(s3_port: int, tmp_path: Path) -> None:
    store, unit = ObjectStore.at(address("whole", s3_port)), tmp_path / "ab12"
    unit.mkdir()
    for name in ("counter.parquet", UNIT_FILE, "zeta"):
        (unit / name).write_text(name)
    store.write("units/ab12/counter.parquet", b"")
    store.write("units/.writing-ab12-1", b"")
    store.write("units/cd34.failed", b"{}")
    assert store.unit_names() == {".writing-ab12-1", "cd34.failed"}
    store.write_unit(unit)
    assert store.unit_names() == {".writing-ab12-1", "cd34.failed", "ab12"}
    (tmp_path / "other").mkdir()
    store.fetch_unit(tmp_path / "other" / "ab12")
    fetched = {path.name: path.read_text() for path in (tmp_path / "other" / "ab12").iterdir()}
    assert fetched == {name: name for name in ("counter.parquet", UNIT_FILE, "zeta")}
    store.remove("units/ab12")
    assert "ab12" not in store.unit_names()
