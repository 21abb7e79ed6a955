"""The commands that send requests."""

from __future__ import annotations

from typing import Final

from sim.laboratory import clients, resolution, transactions
from sim.laboratory.command import ROUTE, Command

TRANSACTIONS: Final[dict[str, Command]] = {
    "begin": Command(
        "begin TXN [start_ts=TS] [for_update_ts=TS]",
        "begins a transaction, at a timestamp from PD unless one is given",
        transactions.begin,
    ),
    "lock": Command(
        "lock TXN KEY… [for_update_ts=TS] [primary=KEY] [ttl=MS] [min_commit_ts=TS] "
        "[wait_timeout=TIME] [no-wait] [return-values] [should-not-exist] "
        "[allow-lock-with-conflict]",
        "AcquirePessimisticLock",
        transactions.lock,
        takes=ROUTE,
    ),
    "prewrite": Command(
        "prewrite TXN [put:KEY=VALUE | delete:KEY | lock:KEY | insert:KEY=VALUE | KEY]… "
        "[for_update_ts=TS] [primary=KEY] [ttl=MS] [min_commit_ts=TS] [optimistic] "
        "[async-commit] [secondaries=KEY,…] [one-pc] [skip-pessimistic-check=KEY,…] [retry] "
        "[max_commit_ts=TS] [expected-for-update-ts=KEY:TS,…] "
        "[bytes=SIZE]",
        "Prewrite, pessimistic unless it says optimistic",
        transactions.prewrite,
        takes=ROUTE,
    ),
    "commit": Command(
        "commit TXN [KEY…] [commit_ts=TS]", "Commit", transactions.commit, takes=ROUTE
    ),
    "pessimistic-rollback": Command(
        "pessimistic-rollback TXN [KEY…] [for_update_ts=TS] [scan]",
        "PessimisticRollback",
        transactions.pessimistic_rollback,
        takes=ROUTE,
    ),
    "rollback": Command("rollback TXN [KEY…]", "BatchRollback", transactions.rollback, takes=ROUTE),
    "cleanup": Command(
        "cleanup TXN KEY [current_ts=TS]", "Cleanup", resolution.cleanup, takes=ROUTE
    ),
    "heartbeat": Command(
        "heartbeat TXN [PRIMARY] [ttl=MS]", "TxnHeartBeat", resolution.heartbeat, takes=ROUTE
    ),
    "check-txn-status": Command(
        "check-txn-status TXN [PRIMARY] [caller_start_ts=TS] [current_ts=TS] "
        "[rollback-if-not-exist] [resolving-pessimistic-lock] [force-sync-commit]",
        "CheckTxnStatus",
        resolution.check_txn_status,
        takes=ROUTE,
    ),
    "check-secondary-locks": Command(
        "check-secondary-locks TXN KEY…",
        "CheckSecondaryLocks",
        resolution.check_secondary_locks,
        takes=ROUTE,
    ),
    "resolve-lock": Command(
        "resolve-lock TXN [KEY…] [commit_ts=TS]",
        "ResolveLock; without a commit_ts it rolls back",
        resolution.resolve_lock,
        takes=ROUTE,
    ),
    "get": Command(
        "get KEY… [ts=TS] [bypass=TS,…]", "Get or BatchGet", resolution.get, takes=ROUTE
    ),
    "scan": Command(
        "scan [[START, END)] [ts=TS] [limit=N] [bypass=TS,…]",
        "a coprocessor's range read, in one region",
        resolution.scan,
        takes=ROUTE,
    ),
    "scan-locks": Command(
        "scan-locks [[START, END)] [max_ts=TS] [limit=N]",
        "ScanLock, in one region",
        resolution.scan_locks,
        takes=ROUTE,
    ),
    "client": Command(
        "client STATEMENT KEY… [; STATEMENT KEY…]… [autocommit] [within=60s] [as NAME]",
        "lets a client with TiDB's retries carry out a whole transaction",
        clients.client,
    ),
    "put": Command(
        "put KEY [VALUE] [bytes=SIZE] [start_ts=TS]",
        "writes a key in a transaction of its own, optimistic and in one phase",
        transactions.put,
        takes=ROUTE,
    ),
}
