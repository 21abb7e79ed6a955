"""Ablations: protections of in-memory locks that a scenario may remove, to see what they prevent.

An ablation removes one protection of RFC 77 or of TiKV's code for it; without any the model does
what TiKV does. Raft's own rules cannot be removed: nothing above them would mean anything.

Source: RFC 77 (tikv/rfcs text/0077, Correctness) and tikv/tikv components/txn_types,
components/raftstore and src/storage, where the protections are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Final


def _without(meaning: str) -> bool:
    """Returns a switch that is off, with what the model does when it is on."""
    off: bool = field(default=False, metadata={"meaning": meaning})
    return off


@dataclass(frozen=True, slots=True, kw_only=True)
class Ablations:
    """Which protections are removed; the model reads attributes, such as ``no_term_check``."""

    transfer_sends_deleted_locks: bool = _without(
        "a leader transfer proposes locks marked as deleted as well, so they come back to life"
    )
    transfer_without_locks: bool = _without(
        "a leader transfer proposes no locks at all, so the new leader knows none"
    )
    transfer_keeps_table_writable: bool = _without(
        "the lock table stays writable while a leader transfer's locks are on their way"
    )
    merge_without_fence: bool = _without(
        "PrepareMerge does not wait until writes that took their latches earlier are proposed"
    )
    merge_drops_deleted_locks: bool = _without(
        "a merge proposes only locks that are not marked as deleted"
    )
    no_term_check: bool = _without(
        "a lock goes into the table even if the term changed after its command's snapshot"
    )
    no_version_check: bool = _without(
        "a lock goes into the table even if the region split or merged after the snapshot"
    )
    split_drops_locks: bool = _without("a split leaves the new regions' tables empty")
    split_keeps_deleted_marks: bool = _without(
        "a split moves locks marked as deleted as well, although nothing will remove them"
    )
    no_amend_check: bool = _without(
        "prewrite accepts a lost pessimistic lock without looking for newer versions"
    )

    @classmethod
    def of(cls, names: Iterable[str]) -> Ablations:
        """Returns the ablations of these names.

        Raises:
            TypeError: if there is no ablation of a name.
        """
        return cls(**dict.fromkeys(names, True))


ABLATIONS: Final[Mapping[str, str]] = MappingProxyType(
    {each.name: each.metadata["meaning"] for each in fields(Ablations)}
)
"""What the model does without a protection, by the ablation's name."""

COMPLETE: Final = Ablations()
"""Every protection is in place."""
