"""The commands that set up, wait and look."""

from __future__ import annotations

from typing import Final

from sim.laboratory import setup_commands, shows
from sim.laboratory.command import Command

CLUSTER: Final[dict[str, Command]] = {
    "cluster": Command(
        "cluster [stores=3] [replicas=N] [split=KEY,…] [leaders=STORE,…] [behaviour=v8.5] "
        "[ticks=fast] [ablate=NAME,…] [versions=6.0.0,…] [TIKV.KEY=VALUE]…",
        "begins with a new cluster; everything before is forgotten",
        setup_commands.cluster,
    ),
    "region": Command(
        "region ID [START, END) [leader=STORE] [stores=STORE,…] [epoch=CONF_VER:VERSION]",
        "lays out one region, directly after cluster",
        setup_commands.region,
    ),
    "context": Command(
        "context NAME region=REGION | context NAME KEY",
        "remembers a region and its leader as they are now, for context=NAME",
        setup_commands.context,
    ),
    "mem": Command(
        "mem KEY… [txn=TXN] [start_ts=10] [for_update_ts=20] [ttl=3000] [min_commit_ts=30] "
        "[primary=KEY]",
        "puts pessimistic locks straight into the leader's table",
        setup_commands.insert_in_memory,
    ),
    "lose": Command(
        "lose KEY…",
        "takes locks out of the leader's table, as if they had been lost",
        setup_commands.lose,
    ),
}

WAITING: Final[dict[str, Command]] = {
    "wait": Command(
        "wait [NAME…] [within=10s]",
        "waits for what was put aside with as NAME, and prints the answers",
        setup_commands.wait,
    ),
    "requests": Command(
        "requests [NAME…]",
        "says what has become of what was put aside, without waiting",
        setup_commands.requests,
    ),
    "advance": Command(
        "advance TIME | advance until CONDITION [within=10s]",
        "lets simulated time pass",
        setup_commands.advance,
    ),
    "time": Command("time", "prints the simulated time", setup_commands.time),
    "echo": Command("echo WORD…", "prints its words", setup_commands.echo),
}

LOOKING: Final[dict[str, Command]] = {
    "locks": Command(
        "locks [KEY…] [store=STORE] [region=REGION]",
        "shows the locks in memory and in the lock CF, and on which stores",
        shows.locks,
    ),
    "tables": Command(
        "tables [leaders] [store=STORE] [region=REGION]",
        "shows each replica's lock table: status, term, version, locks, bytes",
        shows.tables,
    ),
    "memory": Command("memory", "shows the bytes of each store's lock tables", shows.memory),
    "writes": Command("writes KEY… [store=STORE]", "shows the versions of keys", shows.writes),
    "regions": Command(
        "regions [pd] [store=STORE] [region=REGION]",
        "shows the regions as their leaders know them, or as PD does",
        shows.regions,
    ),
    "leader": Command("leader REGION", "shows who leads a region", shows.leader),
    "log": Command(
        "log [store=STORE] [region=REGION]", "shows each replica's raft state", shows.log
    ),
    "waiters": Command("waiters [store=STORE]", "shows who waits for which key", shows.waiters),
    "counters": Command(
        "counters [PREFIX…]", "shows the counters that are not zero", shows.counters
    ),
    "marks": Command(
        "marks [PREFIX…]",
        "shows which branches of lock migration and fallback were taken",
        shows.marks,
    ),
    "dropped": Command("dropped", "shows the locks that tables have lost, and why", shows.dropped),
    "max-ts": Command("max-ts [store=STORE]", "shows the latest read of each store", shows.max_ts),
}
