"""Runs studies from YAML scenarios; ``python run_sim.py --help`` lists the commands."""

import sys

try:
    from analysis.cli.app import main
except ModuleNotFoundError as error:
    if not error.name or error.name.split(".")[0] in {"analysis", "pessim", "sim"}:
        raise
    sys.stderr.write(
        f"{sys.executable} has no package {error.name}, which Pessim needs.\n"
        "Run 'make setup' once, and '. .venv/bin/activate' in each shell.\n"
    )
    sys.exit(2)  # as for any wrong input
except KeyboardInterrupt:
    sys.stderr.write("interrupted\n")
    sys.exit(130)

if __name__ == "__main__":
    sys.exit(main())
