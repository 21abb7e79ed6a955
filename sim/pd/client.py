"""One store's connection to PD: heartbeats of the regions it leads, and timestamps.

Source: tikv/tikv components/raftstore/src/store/worker/pd.rs (handle_heartbeat,
handle_update_max_timestamp), fsm/store.rs (handle_reconnect: each region reports to PD again).
"""

from collections.abc import Callable
from typing import Final

from sim.engine import LeanEnv
from sim.hardware.network import Link
from sim.pd.placement import Placement
from sim.pd.tso import TimestampOracle
from sim.protocol.region import Region
from sim.units import NS_PER_MS

_HEARTBEAT_BYTES: Final = 256
"""A region heartbeat to PD: region, leader, statistics (kvproto pdpb field sizes)."""

RETRY_NS: Final = 100 * NS_PER_MS
"""A store that is cut off from PD tries again after this. ASSUMED."""


class PdClient:
    """One store's way to PD."""

    def __init__(
        self,
        env: LeanEnv,
        link: Link,
        placement: Placement,
        tso: TimestampOracle,
        reported: Callable[[Region, int], None],
    ) -> None:
        """Args: ``reported`` observes heartbeats that have arrived: region, leader's store."""
        self._env = env
        self._link = link
        self._reported = reported
        self.placement = placement
        self._tso = tso
        self._missed: dict[int, tuple[Region, int, int]] = {}
        """By region: the last heartbeat that did not get through."""

    @property
    def is_cut(self) -> bool:
        """Whether nothing gets through."""
        return self._link.cut

    def heartbeat(self, region: Region, store: int, term: int) -> None:
        """Sends a leader's heartbeat; those of one store are one stream, and keep their order.

        What PD has missed it hears when the connection is back.
        """
        if self._link.cut:
            if not self._missed:
                self._env.at(self._env.now_ns + RETRY_NS, self._reconnect, None)
            self._missed[region.region_id] = (region, store, term)
            return
        arrival_ns = self._link.send_ordered(self._env.now_ns, _HEARTBEAT_BYTES)
        self._env.at(arrival_ns, self._arrived, (region, store, term))

    def _reconnect(self, _: None) -> None:
        missed, self._missed = self._missed, {}
        for heartbeat in missed.values():
            self.heartbeat(*heartbeat)

    def crash(self) -> None:
        """Forgets what PD has missed: the process has died."""
        self._missed.clear()

    def round_trip_ns(self) -> int:
        """Returns how long a question that is asked now takes to be answered."""
        now_ns = self._env.now_ns
        return self._link.round_trip(now_ns, _HEARTBEAT_BYTES) - now_ns

    def timestamp(self) -> int:
        """Returns a timestamp, for a question that has been answered just now."""
        return self._tso.next(self._env.now_ns)

    def _arrived(self, heartbeat: tuple[Region, int, int]) -> None:
        region, store, term = heartbeat
        self.placement.heartbeat(region, store, term)
        self._reported(region, store)
