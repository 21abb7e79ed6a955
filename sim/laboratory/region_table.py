"""The commands that change regions or disturb the cluster."""

from __future__ import annotations

from typing import Final

from sim.laboratory import faults, region_commands
from sim.laboratory.command import AWAITED, Command

REGIONS: Final[dict[str, Command]] = {
    "transfer-leader": Command(
        "transfer-leader REGION STORE",
        "asks the leader to hand leadership over",
        region_commands.transfer_leader,
        takes=AWAITED,
    ),
    "campaign": Command(
        "campaign REGION STORE",
        "lets a replica stand for election now",
        region_commands.campaign,
        takes=AWAITED,
    ),
    "split-region": Command(
        "split-region [REGION] KEY [new=REGION]",
        "splits a region at a key; the right part keeps the id",
        region_commands.split_region,
        takes=AWAITED,
    ),
    "merge-region": Command(
        "merge-region SOURCE TARGET",
        "merges a region into its neighbour",
        region_commands.merge_region,
        takes=AWAITED,
    ),
    "add-peer": Command(
        "add-peer REGION STORE",
        "adds a replica to a region",
        region_commands.add_peer,
        takes=AWAITED,
    ),
    "remove-peer": Command(
        "remove-peer REGION STORE",
        "removes a replica from a region",
        region_commands.remove_peer,
        takes=AWAITED,
    ),
    "prepare-flashback": Command(
        "prepare-flashback REGION",
        "closes a region for a flashback, which drops its locks in memory",
        region_commands.prepare_flashback,
        takes=AWAITED,
    ),
    "finish-flashback": Command(
        "finish-flashback REGION",
        "opens a region again after a flashback",
        region_commands.finish_flashback,
        takes=AWAITED,
    ),
    "crash": Command("crash STORE", "kills a store's process", faults.crash),
    "restart": Command("restart STORE", "starts a crashed store again", faults.restart),
    "isolate": Command("isolate NODE…", "cuts nodes off from all others", faults.isolate),
    "partition": Command(
        "partition NODE… | NODE…", "cuts the network into groups", faults.partition
    ),
    "heal": Command("heal", "takes back every isolation and partition", faults.heal),
    "drop": Command(
        "drop MESSAGE [from=STORE] [to=STORE] [region=REGION] [as NAME]",
        "drops raft messages of a kind",
        faults.drop,
    ),
    "delay": Command(
        "delay MESSAGE TIME [from=STORE] [to=STORE] [region=REGION] [as NAME]",
        "delays raft messages of a kind",
        faults.delay,
    ),
    "allow": Command("allow [NAME…]", "takes rules of drop and delay back", faults.allow),
    "rules": Command("rules", "shows those rules and what they have met", faults.rules),
    "hold": Command(
        "hold POINT [store=STORE] [region=REGION]",
        "stops whatever comes to a named point",
        faults.hold,
    ),
    "release": Command(
        "release POINT [store=STORE] [region=REGION]",
        "lets go what the same words hold",
        faults.release,
    ),
    "held": Command("held", "shows how many are stopped at each point", faults.held),
    "set-config": Command(
        "set-config TIKV.KEY=VALUE… [store=STORE]",
        "changes TiKV's configuration while it runs",
        faults.set_config,
    ),
    "upgrade": Command(
        "upgrade STORE VERSION", "gives a store another version of TiKV", faults.upgrade
    ),
    "slow-disk": Command(
        "slow-disk STORE FACTOR", "makes a store's disk slower; 1: as before", faults.slow_disk
    ),
    "fill-disk": Command("fill-disk STORE", "fills a store's disk", faults.fill_disk),
    "free-disk": Command("free-disk STORE", "makes room on it again", faults.free_disk),
}
