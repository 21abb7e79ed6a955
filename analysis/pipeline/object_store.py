"""A study's folder in an object store, under the names that it has on a disk.

Law: nothing is renamed there. A unit is whole when its ``unit.json`` is there, which is put last,
and the digests in it say whether the facts beside it are those that it was put with.

The client of a store has threads of its own, which a fork would lose: a process that has asked a
store for something must not fork.
"""

from __future__ import annotations

import errno
import mimetypes
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlsplit

from analysis.study.study_folder import StudyFolderError
from analysis.study.unit_folder import UNIT_FILE

SCHEMES: Final = ("s3", "gs", "abfss", "hdfs")
_ALIASES: Final = {"s3a": "s3", "abfs": "abfss"}
"""Schemes that Spark's users write, by what they are called here."""
_FETCHED_PREFIX: Final = ".fetched-"
_NO_BUCKET: Final = "there is no such bucket; make it, or correct its name"
_DENIED: Final = (
    "access is denied; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, here and "
    "on executors, to an account that may list, read and write there"
)
_UNREACHABLE: Final = (
    "its server cannot be reached; correct AWS_ENDPOINT_URL or endpoint_override, or the network"
)
_MEANINGS: Final = (
    (r"NO_SUCH_BUCKET", _NO_BUCKET),
    (r"ACCESS_DENIED|ACCESS_KEY|SIGNATURE|TOKEN|CREDENTIALS|HTTP status 40[13]", _DENIED),
    (r"NETWORK_CONNECTION|REQUEST_TIMEOUT", _UNREACHABLE),
)
"""What a client's words mean, and what mends it."""


def is_address(text: str) -> bool:
    """Returns whether a text names a store, not a folder of this machine."""
    return "://" in text


def reason(error: Exception) -> str:
    """Returns one line from a client's many words: the cause, and what mends it, if known."""
    text = str(error)
    for pattern, words in _MEANINGS:
        if re.search(pattern, text):
            return words
    return " ".join(re.sub(r"\(Request ID: .*?\)", "", text).split()) or type(error).__name__


@cache
def _opened(url: str) -> tuple[Any, str]:
    """Returns the file system and the path in it, once in a process."""
    from pyarrow.fs import FileSystem

    files, root = FileSystem.from_uri(url)
    return files, root.rstrip("/")


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """A folder in a store; files are named by their path below it.

    Every method but ``at`` raises an ``OSError`` that names the store, with one line of reason.
    """

    url: str

    def __str__(self) -> str:
        """Returns the address without what says how to reach it."""
        return self.url.partition("?")[0]

    @classmethod
    def at(cls, text: str) -> Self:
        """Returns the store with an address, and asks it for its bucket.

        Raises:
            StudyFolderError: if it cannot be used; the message says why and what to do.
        """
        parts = urlsplit(text)
        scheme = _ALIASES.get(parts.scheme, parts.scheme)
        named = text.partition("?")[0]
        if scheme not in SCHEMES:
            known = ", ".join(f"{each}://" for each in SCHEMES)
            raise StudyFolderError(f"{named}: is in no store that is known; write one of {known}")
        if "@" in parts.netloc and scheme in {"s3", "gs"}:
            raise StudyFolderError(
                f"{scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}: an address is no place "
                "for a secret; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
            )
        if not parts.path.strip("/"):
            raise StudyFolderError(
                f"{named}: names no folder; write {scheme}://{parts.netloc or 'BUCKET'}/FOLDER"
            )
        from pyarrow.fs import FileType

        store = cls(parts._replace(scheme=scheme).geturl())
        try:
            files, root = _opened(store.url)
            bucket = root.partition("/")[0]
            lacks = bucket and files.get_file_info(bucket).type == FileType.NotFound
        except (OSError, ValueError) as error:  # ValueError: of an address
            raise StudyFolderError(f"{store}: {reason(error)}") from error
        if lacks:
            raise StudyFolderError(f"{store}: {_NO_BUCKET}")
        return store

    def unit_names(self) -> set[str]:
        """Returns what a folder of units would show: whole ones, failures, attempts."""
        from pyarrow.fs import FileSelector

        with self._files() as (files, root):
            below = f"{root}/units"
            there = files.get_file_info(
                FileSelector(below, allow_not_found=True, recursive=True)
            )  # fmt: skip
        paths = [each.path.removeprefix(f"{below}/") for each in there if each.is_file]
        return {
            path.removesuffix(f"/{UNIT_FILE}")
            for path in paths
            if "/" not in path or path.endswith(f"/{UNIT_FILE}")
        }

    def read(self, name: str) -> bytes:
        """Returns a file."""
        with self._files() as (files, root), files.open_input_stream(f"{root}/{name}") as stream:
            content: bytes = stream.read()
        return content

    def write(self, name: str, content: bytes) -> None:
        """Puts a file; a reader sees the old one or the new one."""
        kind = {"Content-Type": mimetypes.guess_type(name)[0] or "application/octet-stream"}
        with (
            self._files() as (files, root),
            files.open_output_stream(f"{root}/{name}", metadata=kind) as stream,
        ):
            stream.write(content)

    def remove(self, name: str) -> None:
        """Removes a file, or a folder with all that is in it; nothing if there is none."""
        with self._files() as (files, root), suppress(FileNotFoundError):
            if files.get_file_info(f"{root}/{name}").is_file:
                files.delete_file(f"{root}/{name}")
            else:
                files.delete_dir(f"{root}/{name}")

    def write_unit(self, folder: Path) -> None:
        """Puts a unit's folder, ``unit.json`` last."""
        for file in sorted(folder.iterdir(), key=lambda each: each.name == UNIT_FILE):
            self.write(f"units/{folder.name}/{file.name}", file.read_bytes())

    def fetch_unit(self, folder: Path) -> None:
        """Fetches a unit's folder, which gets its name when all is there."""
        from pyarrow.fs import FileSelector

        fetched = folder.with_name(f"{_FETCHED_PREFIX}{folder.name}")
        shutil.rmtree(fetched, ignore_errors=True)
        fetched.mkdir()
        with self._files() as (files, root):
            there = files.get_file_info(FileSelector(f"{root}/units/{folder.name}"))
        for name in (each.base_name for each in there if each.is_file):
            (fetched / name).write_bytes(self.read(f"units/{folder.name}/{name}"))
        fetched.replace(folder)

    @contextmanager
    def _files(self) -> Iterator[tuple[Any, str]]:
        """Gives the file system and the path in it; what fails there is said in one line."""
        try:
            yield _opened(self.url)
        except FileNotFoundError as error:
            raise FileNotFoundError(errno.ENOENT, "is not there", str(self)) from error
        except OSError as error:
            raise OSError(errno.EIO, reason(error), str(self)) from error
