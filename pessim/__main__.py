"""``python -m pessim``: the command, for whom it is not on the path."""

import sys

try:
    from analysis.cli.app import main
except KeyboardInterrupt:
    sys.stderr.write("interrupted\n")
    sys.exit(130)

if __name__ == "__main__":
    sys.exit(main())
