"""What becomes of every granted pessimistic lock: the books, and where held locks are."""

from sim.lock_fates.books import LockFates, TwoHolders, was_skipped
from sim.lock_fates.places import MISTAKES, cause_of

__all__ = ["MISTAKES", "LockFates", "TwoHolders", "cause_of", "was_skipped"]
