"""Callers of requests that nobody waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sim.storage.request import KvRequest


class Nobody:
    """Caller of a request that is not on its way."""

    __slots__ = ()

    def replied(self, request: KvRequest) -> None:
        """Refuses: a request is put into a group before it is sent."""
        raise AssertionError(f"nobody waits for {request}")


NOBODY = Nobody()


class Forgotten:
    """Caller of a request that its client has given up: a late reply to it means nothing."""

    __slots__ = ()

    def replied(self, request: KvRequest) -> None:
        """Drops the reply."""


FORGOTTEN = Forgotten()


def is_awaited(request: KvRequest) -> bool:
    """Returns whether somebody waits for the answer to a request."""
    return request.caller is not NOBODY and request.caller is not FORGOTTEN
