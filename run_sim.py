"""Runs studies from YAML scenarios; ``python run_sim.py --help`` lists the commands."""

import sys

from analysis.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
