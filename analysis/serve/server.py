"""Serves a folder of studies until it is interrupted."""

from __future__ import annotations

import secrets
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import uvicorn

from analysis.serve.site import Site

_LOOPBACK: Final = "127.0.0.1"


class PortTakenError(Exception):
    """The port cannot be had; the message says why."""


def serve(results: Path, port: int, told: Callable[[str], None]) -> None:
    """Serves a folder of studies on the loopback interface until it is interrupted.

    Args:
        results: where studies lie.
        port: 0 for any that is free.
        told: takes the address, with its token, as soon as it answers.

    Raises:
        PortTakenError: if the port cannot be had.
    """
    with listening(port) as door:
        token, bound = secrets.token_urlsafe(24), door.getsockname()[1]
        site = Site(results, token, bound, (sys.executable, sys.argv[0]))
        told(address(bound, token))
        server_of(site).run([door])


def listening(port: int) -> socket.socket:
    """Returns a socket that listens on the loopback interface, and on no other.

    Raises:
        PortTakenError: if the port cannot be had.
    """
    door = socket.socket()
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((_LOOPBACK, port))
    except OSError as error:
        door.close()
        raise PortTakenError(
            f"port {port} of {_LOOPBACK} cannot be had ({error.strerror}); choose another with "
            "--port, or leave it out"
        ) from error
    door.listen()
    return door


def address(port: int, token: str) -> str:
    """Returns what a browser is given."""
    return f"http://{_LOOPBACK}:{port}/{token}/"


def server_of(site: Site) -> uvicorn.Server:
    """Returns what answers with the pages of a site, and says nothing of itself."""
    config = uvicorn.Config(
        site.app,
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)
