"""What operations ask of a cluster: the part of its control that they use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class Control(Protocol):
    """Asks for a change and returns at once; what becomes of it is for others to see."""

    def transfer_leader(self, region_id: int, to_store: int) -> None:
        """Asks the leader of a region to hand over."""

    def split_region(self, region_id: int, split_key: bytes) -> None:
        """Asks for two regions; the right one keeps the id."""

    def merge_region(self, source_id: int, target_id: int) -> None:
        """Asks for one region out of two neighbours; the target keeps its id."""

    def change_peer(self, region_id: int, *, add: int = 0, remove: int = 0) -> None:
        """Asks for another set of replicas."""

    def crash_store(self, store_id: int) -> None:
        """Kills a store's process."""

    def restart_store(self, store_id: int) -> None:
        """Starts a store's process again."""

    def isolate(self, names: Sequence[str]) -> None:
        """Cuts nodes off from all others."""

    def partition(self, groups: Sequence[Sequence[str]]) -> None:
        """Lets nodes hear only those of their own group."""

    def heal(self) -> None:
        """Ends every partition."""

    def slow_disk(self, store_id: int, factor: float) -> None:
        """Makes the disks of a store slower by a factor; 1 ends it."""

    def fill_disk(self, store_id: int) -> None:
        """Leaves a store without space."""

    def free_disk(self, store_id: int) -> None:
        """Gives a store its space back."""

    def upgrade_store(self, store_id: int, version: str) -> None:
        """Gives a store another version."""

    def set_config(self, key: str, value: object, *, store: int | None = None) -> None:
        """Changes a key of TiKV's configuration, on one store or on all."""
