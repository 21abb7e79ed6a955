"""One S3 server for all tests of this folder, with an account that may do everything there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.store.s3_server import ENVIRONMENT, SERVER, WHY_NOT, s3_server


@pytest.fixture(autouse=True, scope="session")
def account() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_REGION"):
            patch.delenv(name, raising=False)
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="session")
def s3_port(account: None) -> Iterator[int]:
    if SERVER is None:
        pytest.skip(WHY_NOT)
    with s3_server() as port:
        yield port
