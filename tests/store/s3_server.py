"""A server of this machine that speaks S3 (moto), and one that lets nobody in."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SERVER = shutil.which(Path(sys.prefix, "s3_server/bin/moto_server"))
"""Where ``.ci/test_tools.sh`` installs it; None without it. Another one may be too old."""
WHY_NOT = "moto is not installed: .ci/test_tools.sh"
BUCKET = "bucket"
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "anybody",
    "AWS_SECRET_ACCESS_KEY": "anything",
    "AWS_EC2_METADATA_DISABLED": "true",
}


def free_port() -> int:
    """Returns a port that nobody listens on."""
    with closing(socket.socket()) as door:
        door.bind(("127.0.0.1", 0))
        port: int = door.getsockname()[1]
    return port


def address(folder: str, port: int, bucket: str = BUCKET) -> str:
    """Returns what ``--out`` takes."""
    return f"s3://{bucket}/{folder}?scheme=http&endpoint_override=127.0.0.1:{port}"


@contextmanager
def s3_server() -> Iterator[int]:
    """Runs a server with an empty bucket; gives its port. There must be a ``SERVER``."""
    from pyarrow.fs import FileSystem

    port = free_port()
    process = subprocess.Popen(
        [SERVER or "", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while not _answers(port):
            assert process.poll() is None, "the server has ended"
            time.sleep(0.1)
        files, _ = FileSystem.from_uri(address("", port) + "&allow_bucket_creation=true")
        files.create_dir(BUCKET)
        yield port
    finally:
        process.terminate()
        process.wait(30)


def _answers(port: int) -> bool:
    with closing(socket.socket()) as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


class _Refuses(BaseHTTPRequestHandler):
    """Answers as S3 does to somebody without a right."""

    def do_GET(self) -> None:
        """Refuses."""
        body = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
        self.send_response(403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815 - the base's

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's
        """Says nothing."""


@contextmanager
def server_that_refuses() -> Iterator[int]:
    """Runs a server that answers everything with 403; gives its port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Refuses) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()
