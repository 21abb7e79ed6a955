"""A tab of a real Chromium, driven as a person drives it: keys, clicks, a window's width.

It speaks the DevTools protocol over the browser's own pipe, so no library is needed.
"""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from tests.page.browser import chromium

_DEADLINE_S: Final = 120.0
"""Only a hang takes so long."""
_PAGE_LEFT: Final = "Inspected target navigated or closed"
"""What Chromium answers if a page goes away while it is asked."""
_KEYS: Final = {
    "Tab": (9, ""), "Enter": (13, "\r"), " ": (32, " "), "ArrowRight": (39, ""),
    "ArrowLeft": (37, ""), "ArrowUp": (38, ""), "ArrowDown": (40, ""), "Home": (36, ""),
    "End": (35, ""), "Escape": (27, ""), "Backspace": (8, ""),
}  # fmt: skip
_TOO_WIDE: Final = """(() => {
  const width = document.documentElement.clientWidth;
  return [...document.querySelectorAll("body *")].filter((one) => {
    if (one.closest(".scroll, pre, details:not([open]), .skip")) { return false; }
    const box = one.getBoundingClientRect();
    return box.width > 0 && (box.right > width + 1 || box.left < -1);
  }).map((one) => one.tagName + "." + one.className + " " + one.textContent.slice(0, 30))
})()"""

_LINES: Final = """((box) => {
  const canvas = box.querySelector("canvas"), copy = document.createElement("canvas");
  copy.width = canvas.width;
  copy.height = canvas.height;
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.drawImage(canvas, 0, 0);
  const bits = context.getImageData(0, 0, copy.width, copy.height).data;
  const seen = new Set();
  for (let at = 0; at < bits.length; at += 4) {
    if (bits[at + 3] === 255) { seen.add([bits[at], bits[at + 1], bits[at + 2]].join(", ")); }
  }
  return [...box.querySelectorAll(".legend .swatch")].map((one) =>
    seen.has(/rgb\\(([^)]*)\\)/.exec(getComputedStyle(one).background)[1]));
})"""


class PageLeft(Exception):
    """The page went away before it had answered."""


class Tab:
    """One tab; what its pages say to the console is kept."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._unread = b""
        self._asked = 0
        self._session = ""
        self.console: list[str] = []
        """What pages have said: errors and refusals too."""
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self._ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._ask(f"{domain}.enable")

    def show(self, address: str) -> None:
        """Opens an address and waits until it is there."""
        self._ask("Page.navigate", url=address)
        self.wait_for("document.readyState === 'complete' && location.href !== 'about:blank'")

    def resize(self, width_px: int, height_px: int = 900, *, dark: bool = False) -> None:
        """Makes the window as wide as that, in light or dark."""
        self._ask(
            "Emulation.setDeviceMetricsOverride",
            width=width_px,
            height=height_px,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._ask("Emulation.setEmulatedMedia", features=[scheme])

    def value(self, script: str) -> Any:
        """Returns what a script comes to, promises kept."""
        found = self._ask(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait_for(self, script: str) -> Any:
        """Waits until a script comes to something true, and returns it."""
        deadline_s = time.monotonic() + _DEADLINE_S
        while True:
            value = None
            with suppress(PageLeft):  # The page that comes after it is asked again.
                found = self._ask("Runtime.evaluate", expression=script, returnByValue=True)
                if "exceptionDetails" not in found:
                    value = found["result"].get("value")
            if value:
                return value
            assert time.monotonic() < deadline_s, f"never: {script}; console: {self.console}"
            time.sleep(0.05)

    def text(self, selector: str) -> str:
        """Returns the text of the first element that a selector finds."""
        return str(self.value(f"document.querySelector({json.dumps(selector)}).innerText"))

    def click(self, selector: str) -> None:
        """Clicks on the middle of an element."""
        where = self.value(
            f"(() => {{ const one = document.querySelector({json.dumps(selector)});"
            "one.scrollIntoView({block: 'center'}); const box = one.getBoundingClientRect();"
            "return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self._ask("Input.dispatchMouseEvent", type=kind, x=where[0], y=where[1],
                      button="left", clickCount=1)  # fmt: skip

    def press(self, key: str, times: int = 1) -> None:
        """Presses a key."""
        code, text = _KEYS[key]
        for _ in range(times):
            self._ask("Input.dispatchKeyEvent", type="keyDown", key=key, text=text,
                      windowsVirtualKeyCode=code)  # fmt: skip
            self._ask("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def tab_to(self, selector: str, most: int = 200) -> None:
        """Presses the tabulator until an element has the focus, as who has no mouse does."""
        has_focus = f"document.activeElement.matches({json.dumps(selector)})"
        for _ in range(most):
            if self.value(has_focus):
                return
            self.press("Tab")
        raise AssertionError(f"{selector} is not reached with the keyboard")

    def write(self, text: str) -> None:
        """Types text where the focus is."""
        self._ask("Input.insertText", text=text)

    def too_wide(self) -> list[str]:
        """Returns what reaches beyond the window, and the page if it scrolls sideways."""
        wide: list[str] = self.value(_TOO_WIDE)
        page = self.value("document.documentElement.scrollWidth > innerWidth")
        return [*wide, *(["the page"] if page else [])]

    def lines(self, chart: str) -> list[bool]:
        """Returns of each line in the legend of a chart whether its colour is drawn."""
        drawn: list[bool] = self.value(f"{_LINES}(document.querySelector({json.dumps(chart)}))")
        return drawn

    def drawing(self, chart: str) -> str:
        """Returns all that is drawn on the canvas of a chart."""
        canvas = json.dumps(f"{chart} canvas")
        return str(self.value(f"document.querySelector({canvas}).toDataURL()"))

    def picture(self, file: Path) -> None:
        """Writes what is seen, the whole page, as PNG."""
        shot = self._ask("Page.captureScreenshot", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(shot["data"]))

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._asked += 1
        said = {"id": self._asked, "method": method, "params": params}
        if self._session:
            said["sessionId"] = self._session
        os.write(self._to, json.dumps(said).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._asked:
                error = answer.get("error", {})
                if error.get("message") == _PAGE_LEFT:
                    raise PageLeft
                assert not error, (method, error)
                return dict(answer["result"])
            self._take(answer)

    def _take(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        match event.get("method"):
            case "Runtime.consoleAPICalled":
                words = [str(part.get("value", part.get("description"))) for part in params["args"]]
                self.console.append(" ".join(words))
            case "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                self.console.append(str(details.get("exception", details).get("description")))
            case "Log.entryAdded":
                self.console.append(params["entry"]["text"])
            case _:
                pass

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._from], [], [], _DEADLINE_S)
            assert ready, "the browser says nothing"
            more = os.read(self._from, 1 << 20)
            assert more, "the browser has ended"
            self._unread += more
        message, _, self._unread = self._unread.partition(b"\0")
        return dict(json.loads(message))


@contextmanager
def open_tab(folder: Path) -> Iterator[Tab]:
    """Gives a tab of a browser whose profile lies in a folder."""
    command = chromium()
    assert command is not None
    theirs_in, to_browser = os.pipe()
    from_browser, theirs_out = os.pipe()
    words = [
        "sh", "-c", f'exec "$@" 3</dev/fd/{theirs_in} 4>/dev/fd/{theirs_out}', "sh", command,
        "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
        "--remote-debugging-pipe", f"--user-data-dir={folder / 'profile'}", "about:blank",
    ]  # fmt: skip
    process = subprocess.Popen(
        words,
        pass_fds=(theirs_in, theirs_out),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        yield Tab(to_browser, from_browser)
    finally:
        process.terminate()
        process.wait(_DEADLINE_S)
        os.close(to_browser)
        os.close(from_browser)
