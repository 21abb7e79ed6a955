"""Files that a command makes for its user: none is ever lost to a later run of the command."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from analysis.cli.failures import CommandError

_KEPT: Final = ".bak"


def write_new(
    texts: Mapping[Path, str], *, given: Collection[Path] = (), replace: bool = False
) -> list[Path]:
    """Writes files, with their folders; returns those that were kept under another name.

    Args:
        texts: what to write, by file.
        given: files that the command reads.
        replace: put what exists aside, under its name with ``.bak``, and write in its place.

    Raises:
        CommandError: if a file exists and says something else, or is one of ``given``; nothing is
            written then.
    """
    changed = {path: text for path, text in texts.items() if not _says(path, text)}
    for path in changed:
        if any(path.exists() and other.exists() and path.samefile(other) for other in given):
            raise CommandError(f"{path}: is one of the files given; name another --out")
        if path.exists() and not path.is_file():
            raise CommandError(f"{path}: is not a file; name another --out")
        if path.exists() and not replace:
            aside = _aside(path).name
            raise CommandError(
                f"{path}: exists, and your changes in it would be lost; name another --out, "
                f"or write --force, which keeps it as {aside}"
            )
    kept = []
    for path, text in changed.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            kept.append(path.rename(_aside(path)))
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:  # a full disk does not say where
            error.filename = error.filename or str(path)
            raise
    return kept


def refuse_foreign(path: Path, mark: str) -> None:
    """Refuses to write over a file that does not have the mark of what the command itself makes.

    Raises:
        CommandError: if it exists without.
    """
    if path.is_file() and mark.encode() not in path.read_bytes():
        message = "exists, and this command has not written it; name another file"
        raise CommandError(f"{path}: {message}")


def _says(path: Path, text: str) -> bool:
    try:
        return path.is_file() and path.read_text(encoding="utf-8") == text
    except UnicodeDecodeError:
        return False


def _aside(path: Path) -> Path:
    """Returns the first name for what is put aside that nothing has."""
    names = (f"{path.name}{_KEPT}{number or ''}" for number in range(10_000))
    return next(aside for name in names if not (aside := path.with_name(name)).exists())
