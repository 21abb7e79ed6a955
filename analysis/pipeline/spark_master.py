"""What a Spark master's name says: its form, and which machines it means."""

from __future__ import annotations

import re
from typing import Final

_MASTER: Final = (
    r"local(\[(\*|[1-9]\d*)(,[1-9]\d*)?\])?|local-cluster\[[1-9]\d*,[1-9]\d*,[1-9]\d*\]"
    r"|yarn|(spark|k8s)://\S+"
)
_LOOPBACK: Final = r"spark://(127\.\d+\.\d+\.\d+|localhost)(:\d+)?"


def is_local(master: str) -> bool:
    """Whether workers are processes of this machine that see its files."""
    return master.startswith("local")


def is_on_loopback(master: str) -> bool:
    """Whether nobody outside this machine has to reach the driver."""
    return is_local(master) or re.fullmatch(_LOOPBACK, master) is not None


def complaint_about_master(text: str) -> str:
    """Returns why Spark knows no such master, in fewer words than its own; empty: it may."""
    if re.fullmatch(_MASTER, text):
        return ""
    if text.startswith("sc://"):
        return (
            f"{text!r} is a server of Spark Connect, which runs no single tasks; name the master "
            "of its cluster: spark://HOST:PORT, yarn or k8s://HOST:PORT"
        )
    return (
        f"{text!r} is not a Spark master; write local[2], local[*], spark://HOST:PORT, yarn or "
        "k8s://HOST:PORT"
    )


def with_attempts(master: str, task_failures: int) -> str:
    """Returns a local master that retries a task whose worker died; others have a setting."""
    threads = re.fullmatch(r"local(?:\[([^,\]]+)(?:,\d+)?\])?", master)
    return f"local[{threads[1] or 1},{task_failures}]" if threads else master
