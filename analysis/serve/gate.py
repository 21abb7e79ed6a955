"""Who may ask: only who has the printed address, from a page of this server, on this machine.

Law: no handler runs before the gate has let a request in, and every answer leaves with its headers.

- ``Host`` has to be this server's address, so a foreign name that was made to point here gets
  nothing (DNS rebinding).
- Every path begins with the token, which is compared in constant time. There is no cookie: another
  server on this machine would be sent it, too.
- What changes something is a POST, and needs the ``Origin`` of this server's own pages.
- A report is a file that anybody may have made. It has an address of its own, so that it does not
  learn the token, and runs in a sandbox without an origin.

Source: OWASP, Cross-Site Request Forgery Prevention; W3C, Content Security Policy Level 3, sandbox.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sim.units import KIB

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
REPORT_POLICY: Final = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
LONGEST_BODY_BYTES: Final = 64 * KIB
_HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_REFUSED: Final = "Open the address that the command serve has printed.\n"


def report_key(token: str, study: str) -> str:
    """Returns the part of a report's address that only who has the token can tell."""
    return hmac.new(token.encode(), study.encode(), hashlib.sha256).hexdigest()[:32]


class Gate:
    """An ASGI application around another one."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        """Takes what is guarded.

        Args:
            app: answers what is let in; its ``root_path`` is the token.
            token: the first part of every path but those of reports.
            port: of this server.
        """
        self._app = app
        self._token = token
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request, or refuses it."""
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, send_guarded)
        else:
            await refusal(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        """Returns the answer to a request that is not let in; None for one that is."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in self._hosts or not self._has_token(scope):
            return PlainTextResponse(_REFUSED, 403)
        if scope["method"] not in {"GET", "HEAD", "POST"}:
            return PlainTextResponse("Only GET, HEAD and POST.\n", 405)
        if scope["method"] == "POST":
            if headers.get("origin") != f"http://{host}":
                return PlainTextResponse("Only this server's own pages may ask for that.\n", 403)
            length = headers.get("content-length", "")
            if not length.isdecimal() or int(length) > LONGEST_BODY_BYTES:
                return PlainTextResponse("Too long, or of unknown length.\n", 413)
        return None

    def _has_token(self, scope: Scope) -> bool:
        """Returns whether a path has the token, or the key of its report; the rest is routed."""
        first, _, rest = scope["path"].removeprefix("/").partition("/")
        if first == "report":
            key, _, study = rest.partition("/")
            name = study.partition("/")[0]
            return hmac.compare_digest(key.encode(), report_key(self._token, name).encode())
        if not hmac.compare_digest(first.encode(), self._token.encode()):
            return False
        scope["root_path"] = f"/{self._token}"
        return True
