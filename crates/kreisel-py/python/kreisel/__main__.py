"""The command `kreisel`, which comes with the package: `kreisel run FILE`, or `python -m kreisel run FILE`."""

import sys

from . import _kreisel


def main() -> None:
    """Runs the command with the arguments of the process."""
    sys.exit(_kreisel.command(sys.argv))


if __name__ == "__main__":
    main()
