"""The command line: ``skeval evaluate DATA``, ``skeval cluster DATA``, ``skeval compare A B``.

``python -m skeval`` is equivalent. Slow imports are inside the functions that need them.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from time import monotonic
from typing import Any, ClassVar, NoReturn

from skeval._commands.cluster import add_cluster
from skeval._commands.compare import add_compare
from skeval._commands.evaluate import add_evaluate
from skeval._resampling.progress import Progress, show_progress
from skeval._version import __version__

__all__ = ["main"]

SECONDS_A_LINE = 10.0
DESCRIPTION = "Estimate and compare the errors of classifiers, regressors and clusterings."


SYNONYMS = {
    "--estimator": "--algorithm", "--model": "--estimator --algorithm", "--label": "--target",
    "--metric": "--scoring", "--scoring": "--metric", "--folds": "--cv", "--delimiter": "--sep",
    "--output": "--html", "--out": "--html", "--clusters": "--k", "--y": "--target",
    "--features": "--drop", "--exclude": "--drop", "--positive": "--pos-label",
}  # fmt: skip
"""Names of options in other programs, and those of this one."""
HINTS = {
    "--sep": "Quote the separator, as in --sep ';'.",
    "--algorithm": "In Python, skeval.evaluate_clusterer accepts other clusterers.",
    "--cv": "It is the number of folds. For others, pass --include holdout or leave_one_out.",
}
"""Remedies for options that shells or other programs read differently."""


class Parser(argparse.ArgumentParser):
    """A parser that reports an error in one line, with the closest name."""

    words = ""
    commands: ClassVar[dict[str, Parser]] = {}

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.set_defaults(parser=self)
        self.commands[self.prog] = self

    def error(self, message: str) -> NoReturn:
        """Print the message and leave with status 2."""
        # an unknown option, command or choice, and the closest word of the help
        unknown = re.search(r"unrecognized arguments: ([^\s=]*)", message)
        choice = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        word = (unknown or choice or [""] * 2)[1]
        known = re.findall(r"[\w-]+", choice[2] if choice else self.format_help())
        known = [one for one in known if one != word and (choice or one[:2] == "--")]
        same = [own for own in SYNONYMS.get(word, "").split() if own in known]
        others = [name for name, one in self.commands.items() if f" {word} " in one.format_help()]
        # a synonym from another program comes before a similar spelling
        close = same or get_close_matches(word, known, n=1, cutoff=0.65)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        if "are required" in message:
            example = f"{self.prog} iris" if " " in self.prog else "skeval evaluate iris"
            example = example.replace("compare iris", "compare old.csv new.csv")
            hint = f", as in {example!r}"
        elif choice and "." in word:
            hint = f" (did you mean 'skeval evaluate {word}'?)"
        elif unknown and (word[:1] == "-" or "." in word):
            hint = f" (an option of {others[0]})" if others and not same else hint
            hint = hint or f" (see {self.prog} --help)"
        elif unknown:
            # the word follows the value of an option, or no option
            before = re.search(rf"(--[\w-]+) (\S+) {re.escape(word)}", self.words)
            meant = f"--target {word}"
            if before:
                option, value = before.groups()
                meant = f'{option} "{value} {word}" or {option} {value} {option} {word}'
                if option == "--predictions":  # of `compare`, of which each file has one
                    meant = f"skeval evaluate DATA --target COLUMN {option} {value} {word}"
            hint = f" (did you mean {meant}? Options name the columns)"
        texts = (text for name, text in HINTS.items() if f"argument {name}" in message)
        hint = hint or next((f". {text}" for text in texts), "")
        self.exit(2, f"skeval: error: {message}{hint}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, default=None
        Command-line arguments. None means `sys.argv`.

    Returns
    -------
    int
        0 on success, 1 if `compare` finds the second file worse, 2 for invalid input, or 130 after
        Ctrl-C. After Ctrl-C, a report of the completed parts is printed if at least one repeat of
        the folds was completed.
    """
    start = monotonic()
    words = sys.argv[1:] if arguments is None else list(arguments)
    options, unknown = make_parser().parse_known_args(words)
    # unknown words are reported by the parser of the command, which knows its options
    if unknown:
        options.parser.words = " ".join(words)
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    options.line, options.start = shlex.join(["skeval", *words]), start
    # progress redraws its line in a terminal, and adds lines elsewhere
    terminal = sys.stderr is not None and sys.stderr.isatty()
    options.progress = Progress(SECONDS_A_LINE, redraws=terminal)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a command prints its own notes
            with show_progress(options.progress):
                return int(options.run(options) or 0)
    except BrokenPipeError:  # the reader of standard output has ended, as `head` does
        # otherwise Python would fail again when it flushes standard output at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        if options.debug:
            raise
        text = " ".join(str(error).split())
        text = f"not enough memory: {text}" if isinstance(error, MemoryError) else text
        print(f"skeval: error: {text}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as stop:
        on = "the same command again" if options.memory else "with --memory FOLDER, a run"
        done = "the report above uses the completed fits"
        if not getattr(options, "printed", False):
            done = "there is nothing to report yet"
        how = str(stop) or "interrupted"
        print(f"\nskeval: {how}; {done}; {on} continues where it stopped.", file=sys.stderr)
        # the usual status of a program that is stopped by Ctrl-C (128 + SIGINT)
        return 130


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = Parser(prog="skeval", description=DESCRIPTION)
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    add_evaluate(commands)
    add_cluster(commands)
    add_compare(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())
