"""PD's part in operations: its schedulers and checkers, and the operators that pd-ctl adds.

Files are named after tikv/pd's (``schedulers/``, ``checker/``, ``handler.go``).
"""
