"""The threads of a store that carry out requests.

Source: tikv/tikv src/read_pool.rs; src/config/mod.rs (a read pool with settings of its own leaves
the unified one); src/storage/txn/scheduler.rs.
"""

from sim.engine import Cores, LeanEnv, ThreadPool
from sim.scenario.schema.tikv import Tikv


class RequestPools:
    """The thread pools of one store that serve requests.

    Attributes:
        scheduler: for commands that write.
        reads: the unified read pool.
        point_reads: for reads of keys: the unified read pool, unless they have one of their own.
    """

    def __init__(self, env: LeanEnv, cores: Cores, tikv: Tikv) -> None:
        self.scheduler = ThreadPool(env, cores, tikv.scheduler_worker_pool_size)
        self.reads = ThreadPool(env, cores, tikv.readpool_unified_max_thread_count)
        self.point_reads = self.reads
        of_points = tikv.readpool_storage_normal_concurrency
        if of_points is not None:
            self.point_reads = ThreadPool(env, cores, of_points)
