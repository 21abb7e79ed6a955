"""``python -m pessim``: the command, for whom it is not on the path."""

import sys

from analysis.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
