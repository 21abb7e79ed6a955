"""A server of this process on a port of its own, and whoever asks it for something."""

from __future__ import annotations

import http.client
import json
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from analysis.serve.server import address, listening, server_of
from analysis.serve.site import Site

TOKEN: Final = "the-token-of-this-test"
_DEADLINE_S: Final = 60.0


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Served:
    """A running server."""

    site: Site
    port: int

    @property
    def address(self) -> str:
        return address(self.port, TOKEN).rstrip("/")

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, **headers: str) -> Answer:
        """Asks for any path, as it is written."""
        there = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_DEADLINE_S)
        try:
            there.putrequest(method, path, skip_host="Host" in headers, skip_accept_encoding=True)
            for name, value in headers.items():
                there.putheader(name.replace("_", "-"), value)
            there.endheaders()
            found = there.getresponse()
            said = {name.lower(): value for name, value in found.getheaders()}
            return Answer(found.status, said, found.read())
        finally:
            there.close()

    def get(self, path: str, **headers: str) -> Answer:
        """Asks for a page of who has the token."""
        return self.ask("GET", f"/{TOKEN}{path}", **headers)

    def post(self, path: str, **headers: str) -> Answer:
        """Asks for a change, as the server's own pages do it."""
        ours = {"Origin": self.origin, "Content_Length": "0"}
        return self.ask("POST", f"/{TOKEN}{path}", **(ours | headers))

    def wait_for_run(self, study: str) -> None:
        """Waits until nobody runs a study any more."""
        deadline_s = time.monotonic() + _DEADLINE_S
        while self.site.runs.is_running(study):
            assert time.monotonic() < deadline_s
            time.sleep(0.05)


@contextmanager
def served(
    results: Path, program: tuple[str, ...] = (sys.executable, "-c", "")
) -> Iterator[Served]:
    """Serves a folder as long as the block lasts; ``program`` is what runs a study."""
    door = listening(0)
    site = Site(results, TOKEN, door.getsockname()[1], program)
    server = server_of(site)
    thread = threading.Thread(target=server.run, args=([door],), daemon=True)
    thread.start()
    deadline_s = time.monotonic() + _DEADLINE_S
    while not server.started:
        assert time.monotonic() < deadline_s
        time.sleep(0.01)
    try:
        yield Served(site, door.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join(_DEADLINE_S)
        door.close()
