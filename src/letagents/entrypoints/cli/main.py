"""The command line: decides what to do before anything heavy is imported.

Exit codes: 0 done, 1 refused or wrong, 2 not understood, 130 interrupted.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from importlib import import_module

from letagents.domain.errors import LetAgentsError
from letagents.entrypoints.cli import streams
from letagents.entrypoints.cli.commands import (
    agents,
    board,
    doctor,
    focus,
    governance,
    guard,
    memory,
    rooms,
    server,
    start,
)
from letagents.entrypoints.cli.parsing import Parser

INTERRUPTED = 130

_GROUPS = (start, rooms, board, focus, governance, memory, guard, server, agents, doctor)
"""In the order in which the help lists them."""

_WITHOUT_OUTPUT = ("guarding",)
"""Git's hooks print to standard error alone."""

_OPTION = re.compile(r"-[^\d\s.][^\s]*$")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    has_output = streams.fill_in()
    words = sys.argv[1:] if argv is None else argv
    parser = _parser(words)
    arguments = _parsed(parser, words)
    if arguments.module is None:
        parser.print_help()
        return 0
    try:
        if not has_output and arguments.module not in _WITHOUT_OUTPUT:
            raise streams.no_output()
        command = import_module(f"letagents.entrypoints.cli.{arguments.module}")
        return int(command.run(arguments))
    except LetAgentsError as error:
        from letagents.entrypoints.cli import printing

        printing.complain(error, getattr(arguments, "room", None))
        if error.code == printing.OutputLost.code:
            streams.let_go_of_output()
        return 1
    except BrokenPipeError:
        streams.let_go_of_output()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED


def _parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """Return what understands `words`, and little else: all that there is takes time to set up."""
    parser: argparse.ArgumentParser = Parser(
        prog="letagents",
        description="Rooms in which coding agents talk, share work and never step on each other.",
        epilog="`letagents COMMAND --help` says more about one command.",
    )
    parser.add_argument("--version", action=_Version, help="say which version this is, and end")
    parser.set_defaults(module=None)
    commands = parser.add_subparsers(metavar="COMMAND")
    known = [command for group in _GROUPS for command in group.COMMANDS]
    for command in [one for one in known if one.name in words[:1]] or known:
        command.add(commands, words)
    return parser


def _parsed(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
    """Return what is asked for. The words of a command may stand among its options.

    The library takes them from one side of an option only, and calls the others unrecognized.
    """
    arguments, rest = parser.parse_known_args(words)
    at = rest.index("--") if "--" in rest else len(rest)
    unknown = [word for word in rest[:at] if _OPTION.match(word)]
    several: str | None = getattr(arguments, "several", None)
    if unknown or (rest and several is None):
        arguments.parser.error(f"unrecognized arguments: {' '.join(unknown or rest)}")
    if rest and several is not None:
        setattr(arguments, several, [*getattr(arguments, several), *rest[:at], *rest[at + 1 :]])
    return arguments


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str) -> None:  # noqa: A002  argparse calls it so
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"letagents {version('letagents')}")
        parser.exit()
