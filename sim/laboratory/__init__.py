"""The protocol laboratory: a cluster driven one command at a time by a text file.

It is the same model that a study runs (stores, scheduler, raftstore, lock tables), with constant
costs, no clients of its own, and time that passes only when the script lets it. docs/SCRIPTS.md is
its grammar.
"""

from sim.laboratory.script import ScriptResult, run_script, run_text

__all__ = ["ScriptResult", "run_script", "run_text"]
