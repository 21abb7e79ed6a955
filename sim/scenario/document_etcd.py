"""What an etcd cluster adds to a scenario, as a file writes it; nothing for any other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sim.scenario.quantities import DURATION, SIZE
from sim.scenario.resolved import ETCD

if TYPE_CHECKING:
    from sim.scenario.resolved import Scenario, Workload


def etcd_workload_document(workload: Workload) -> dict[str, Any]:
    """Returns the keys of ``workload`` that only etcd has."""
    return {
        "keys": workload.keys,
        "key_size": SIZE.text_of(workload.key_bytes),
        "value": SIZE.text_of(workload.value_bytes),
        "connections": workload.connections,
        "timeout": DURATION.text_of(workload.timeout_ns),
    }


def etcd_hardware_document(scenario: Scenario) -> dict[str, Any]:
    """Returns the keys of ``hardware`` that only etcd has.

    They are left out elsewhere, so that hashes of other scenarios stay as they were.
    """
    if scenario.workload.kind != ETCD:
        return {}
    costs = scenario.hardware.etcd
    return {
        "shared": scenario.hardware.shared,
        "etcd": {
            "burst": DURATION.text_of(costs.burst_ns),
            "request": DURATION.text_of(costs.request_ns),
            "client": DURATION.text_of(costs.client_ns),
            "round": DURATION.text_of(costs.round_ns),
            "entry": DURATION.text_of(costs.entry_ns),
            "sync": DURATION.text_of(costs.sync_ns),
            "backend_commit": DURATION.text_of(costs.backend_commit_ns),
            "byte": costs.byte_ns,
            "process_share": costs.process_share,
            "watch": DURATION.text_of(costs.watch_ns),
            "kernel_share": costs.kernel_share,
            "time_slice": DURATION.text_of(costs.time_slice_ns),
            "wake": DURATION.text_of(costs.wake_ns),
            "relay": DURATION.text_of(costs.relay_ns),
        },
    }
