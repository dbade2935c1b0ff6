"""The command line: ``python -m skeval evaluate DATA`` and ``python -m skeval cluster DATA``."""

import argparse
import sys
import warnings
from collections.abc import Sequence
from typing import NoReturn

import skeval
from skeval._commands.cluster import add_cluster
from skeval._commands.evaluate import add_evaluate
from skeval._version import __version__

__all__ = ["main"]


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """Print the message and leave with status 2."""
        self.exit(2, f"skeval: error: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, default=None
        The words behind ``python -m skeval``; None takes them from `sys.argv`.

    Returns
    -------
    int
        0, or 2 for bad input.
    """
    options = make_parser().parse_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a command prints its own notes
            options.run(options)
    except (ValueError, TypeError, OSError, ImportError) as error:
        print(f"skeval: error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = Parser(prog="python -m skeval", description=skeval.__doc__)
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    add_evaluate(commands)
    add_cluster(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
