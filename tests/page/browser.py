"""A real browser that shows a page at a width, and what it says of the page.

Chromium's window cannot be narrower than 500 px, so a page is shown in a frame as wide as a phone;
the frame's document is the page itself, with its own policy. What lies around it looks at it from
outside and writes what it finds into its own document, which is then printed.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

LEAST_WIDTH_PX: Final = 500
HEIGHT_PX: Final = 2000
_DEADLINE_S: Final = 400.0
_SAID: Final = re.compile(r":CONSOLE[:(](?P<said>.*)")
_FOUND: Final = re.compile(r'<pre id="found">(?P<json>.*?)</pre>', re.DOTALL)
_LOOK: Final = Path(__file__).with_name("look.js")


@dataclass(frozen=True)
class Seen:
    """What a browser has seen of a page.

    Attributes:
        found: what ``look.js`` has found.
        console: what the page has said to the console: errors and refusals too.
    """

    found: dict[str, Any]
    console: list[str]


def chromium() -> str | None:
    """Returns the browser's command, or None."""
    return shutil.which("chromium")


def look(page: Path, width_px: int, folder: Path, *options: str) -> Seen:
    """Shows a page and looks at it.

    Args:
        page: an HTML file.
        width_px: of the page's window.
        folder: for files of the browser.
        options: more for the browser.
    """
    around = folder / f"{page.parent.name}-{width_px}.html"
    frame = html.escape(page.read_text(encoding="utf-8"), quote=True)
    around.write_text(
        '<!DOCTYPE html><meta charset="utf-8"><body style="margin:0">'
        f'<iframe id="page" style="border:0;display:block" width="{width_px}" '
        f'height="{HEIGHT_PX}" srcdoc="{frame}"></iframe>'
        f'<pre id="found"></pre><script>{_LOOK.read_text()}</script>',
        encoding="utf-8",
    )
    window = f"--window-size={max(width_px, LEAST_WIDTH_PX)},{HEIGHT_PX}"
    seen = _browse(around, folder, window, *options, "--dump-dom")
    found = _FOUND.search(seen.stdout)
    assert found, seen.stdout[-500:] + seen.stderr[-2000:]
    said = [match["said"] for match in _SAID.finditer(seen.stderr)]
    return Seen(json.loads(html.unescape(found["json"])), said)


def run_scripts(scripts: Sequence[str], folder: Path) -> Any:
    """Runs scripts in an empty page, and returns what one of them hands to ``FOUND``."""
    page = folder / "scripts.html"
    found = "function FOUND(all) {{ {}.textContent = JSON.stringify(all); }}".format(
        'document.getElementById("found")'
    )
    page.write_text(
        '<!DOCTYPE html><meta charset="utf-8"><body><pre id="found"></pre>'
        + "".join(f"<script>{script}</script>" for script in (found, *scripts)),
        encoding="utf-8",
    )
    seen = _browse(page, folder, "--dump-dom")
    said = _FOUND.search(seen.stdout)
    assert said, seen.stdout[-500:] + seen.stderr[-2000:]
    return json.loads(html.unescape(said["json"]))


def _browse(page: Path, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = chromium()
    assert command is not None
    words = [
        command, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
        "--enable-logging=stderr", "--v=0", "--virtual-time-budget=5000",
        f"--user-data-dir={folder / 'profile'}", *options, page.as_uri(),
    ]  # fmt: skip
    return subprocess.run(words, capture_output=True, text=True, timeout=_DEADLINE_S, check=True)
